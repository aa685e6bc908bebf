import type { TSchema } from 'typebox'
import { InvalidRequest, type Problem } from './problem.ts'
import type { JsonSchema } from './problem-texts.ts'
import { SchemaCheck } from './schema-check.ts'

type Texts = Record<string, string | string[] | undefined>

const INTEGER = /^-?\d{1,400}$/
// Everything from here on is beyond whatever there is, and it can still be calculated with.
const LARGEST_INTEGER = 999_999_999_999_999
// With bounds, and a dot before the second digits: what could be read in two ways takes long to be refused.
const NUMBER = /^-?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,3})?$/

// In any case: clients in Python write `True`.
const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
])

/**
 * Reads a query string or path parameters by their schema. Text is read strictly: `1e3`, `0x10` or a blank is no
 * integer and `1` is no boolean. Parameters that the schema does not name are ignored, as the contracts ask. One with
 * `allowEmptyValue` may be there without a value, as forms send it: it counts as not given.
 */
export class TextValues {
  readonly #part: Problem['part']
  readonly #check: SchemaCheck
  readonly #properties: [name: string, schema: JsonSchema][]

  constructor(schema: TSchema, part: 'query' | 'path') {
    this.#part = part
    this.#check = new SchemaCheck(schema, part)
    this.#properties = Object.entries((schema as JsonSchema).properties ?? {})
  }

  read(texts: Texts): { value: Record<string, unknown> } | { error: InvalidRequest } {
    const value: Record<string, unknown> = {}
    const repeated: Problem[] = []
    for (const [name, schema] of this.#properties) {
      const text = Object.hasOwn(texts, name) ? texts[name] : undefined
      if (text === undefined || (text === '' && schema.allowEmptyValue === true)) {
        if (schema.default !== undefined) value[name] = schema.default
      } else if (schema.type === 'array') {
        const items = schema.items as JsonSchema
        const given = Array.isArray(text) ? text : [text]
        const each = isFixed(items) ? given.flatMap((item) => item.split(',')) : given
        value[name] = each.map((item) => toValue(item, items))
      } else if (Array.isArray(text)) {
        repeated.push({ part: this.#part, at: [name], text: 'must be given only once', kind: 'repeated' })
      } else value[name] = toValue(text, schema)
    }
    if (repeated.length > 0) return { error: new InvalidRequest(repeated) }
    return this.#check.passes(value) ? { value } : { error: this.#check.explain(value) }
  }
}

/** No word of a fixed list has a comma, so one text may hold several of them. */
function isFixed({ anyOf }: JsonSchema): boolean {
  return anyOf?.every((branch) => 'const' in branch) ?? false
}

/** What does not look like the wanted type stays text, and the check says so. */
function toValue(text: string, schema: JsonSchema): unknown {
  switch (schema.type) {
    case 'integer':
      return INTEGER.test(text) ? held(Number(text)) : text
    case 'number':
      return NUMBER.test(text) ? Number(text) : text
    case 'boolean':
      return BOOLEANS.get(text.toLowerCase()) ?? text
    default:
      return text
  }
}

function held(integer: number): number {
  return Math.min(Math.max(integer, -LARGEST_INTEGER), LARGEST_INTEGER)
}
