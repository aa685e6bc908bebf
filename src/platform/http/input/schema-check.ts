import type { Static, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { Settings } from 'typebox/system'
import { InvalidRequest, type Problem } from './problem.ts'
import { type JsonSchema, problemTexts, wholeUnions } from './problem-texts.ts'

const MAX_PROBLEMS = 100
// Finding every problem walks the whole value, so a long list of wrong items is only looked at from the front.
const MAX_NODES = 10_000

// Of alternatives the problems of each are found, and of all these one or two are told.
const MAX_ERRORS = 10 * MAX_PROBLEMS

Settings.Set({ maxErrors: MAX_ERRORS })

/** Compiled when first used: a server with hundreds of operations starts before anybody needs them all. */
export class SchemaCheck<Schema extends TSchema = TSchema> {
  readonly #part: Problem['part']
  #schema: Schema
  #validator: Validator | undefined

  constructor(schema: Schema, part: Problem['part']) {
    this.#schema = schema
    this.#part = part
  }

  passes(value: unknown): value is Static<Schema> {
    this.#validator ??= this.#compiled()
    return this.#validator.Check(value)
  }

  #compiled(): Validator {
    this.#schema = withAnyKey(this.#schema)
    return Compile(this.#schema as object)
  }

  /** Every problem at once, up to a hundred. To be asked only after `passes` said no. */
  explain(value: unknown): InvalidRequest {
    if (value === undefined || value === null) return new InvalidRequest([this.#problem([], 'is required', 'required')])
    const validator = this.#validator as Validator
    const [, errors] = validator.Errors(shortened(value, { left: MAX_NODES }))
    const whole = errors.length < MAX_ERRORS ? errors : wholeUnions(errors)
    const problems = problemTexts(this.#schema as TSchema as JsonSchema, whole)
      .slice(0, MAX_PROBLEMS)
      .map((place): Problem => ({ ...place, part: this.#part }))
    if (problems.length === 0) problems.push(this.#problem([], 'does not have the right form', 'schema'))
    return new InvalidRequest(problems)
  }

  #problem(at: Problem['at'], text: string, kind: string): Problem {
    return { part: this.#part, at, text, kind }
  }
}

// What TypeBox makes of a map from texts. A dot stands for no line end: the value of a key that has one would not be looked at.
const USUAL_KEY = '^.*$'
const ANY_KEY = '^[^]*$'

function withAnyKey<Part>(schema: Part): Part {
  if (typeof schema !== 'object' || schema === null) return schema
  let copy: object | undefined
  for (const [name, part] of Object.entries(schema)) {
    const key = name === USUAL_KEY ? ANY_KEY : name
    const changed: unknown = withAnyKey(part)
    if (key === name && changed === part) continue
    copy ??= copyOf(schema)
    // Others keep their place: problems are named in this order.
    if (key !== name) Reflect.deleteProperty(copy, name)
    Object.assign(copy, { [key]: changed })
  }
  return (copy ?? schema) as Part
}

/** With members that nobody lists, as refinements are. */
function copyOf(schema: object): object {
  return Object.defineProperties(Array.isArray(schema) ? [] : {}, Object.getOwnPropertyDescriptors(schema))
}

/** A copy with the ends of long lists cut off. Members stay, so that none looks missing. */
function shortened(value: unknown, budget: { left: number }): unknown {
  budget.left--
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    for (const item of value) {
      if (budget.left <= 0) break
      copy.push(shortened(item, budget))
    }
    return copy
  }
  const copy: Record<string, unknown> = {}
  let members = 0
  for (const name in value) {
    if (++members > MAX_NODES) break
    copy[name] = shortened((value as Record<string, unknown>)[name], budget)
  }
  return copy
}
