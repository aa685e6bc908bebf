import {
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLParseError,
  type YAMLSeq,
} from 'yaml'
import { dropUnstorable } from '../clean-text.ts'
import type { JsonValue, Metadata } from './metadata.ts'
import {
  BOUNDS,
  badYaml,
  checkKey,
  MAX_DEPTH,
  refuseCostlyYaml,
  STORED_BOUNDS,
  tooDeep,
  type YamlBounds,
} from './yaml-bounds.ts'

// What these say is text, even where it looks like a number: the tag 3.10 is not 3.1.
const TEXTS = new Set(['title', 'type', 'tags', 'aliases'])

// Values that stand in the text never come near; only aliases of aliases do.
const MAX_VALUES = 100_000

const READING = {
  version: '1.2',
  schema: 'core',
  merge: false,
  stringKeys: true,
  resolveKnownTags: false,
  // NOTE: the library compares every key with every other; we look for repeated keys ourselves.
  uniqueKeys: false,
  prettyErrors: false,
} as const

/** The values of frontmatter, all of them safe to write as JSON. What is not a mapping is refused. */
export function parseYaml(yaml: string, bounds = BOUNDS): Metadata {
  return valuesOf(parseYamlDocument(yaml, bounds), bounds)
}

/** The same of text that we have kept: it may be from before our bounds. */
export function parseStoredYaml(yaml: string): Metadata {
  return parseYaml(yaml, STORED_BOUNDS)
}

/** The same of what a change made of text that we have kept. */
export function parseEditedYaml(yaml: string, stored: string | null): Metadata {
  return withinBounds(stored, (bounds) => parseYaml(yaml, bounds))
}

/** Refuses what goes beyond our bounds, unless what was stored does so already: who has that may go on with it. */
export function withinBounds<T>(stored: string | null, work: (bounds: YamlBounds) => T): T {
  try {
    return work(BOUNDS)
  } catch (error) {
    if (stored === null || isReadable(stored)) throw error
    return work(STORED_BOUNDS)
  }
}

function isReadable(yaml: string): boolean {
  try {
    parseYaml(yaml)
    return true
  } catch {
    return false
  }
}

export function valuesOf(document: YamlDocument, bounds: YamlBounds): Metadata {
  if (document.contents === null) return {}
  if (!isMap(document.contents)) {
    throw badYaml('it is not a list of keys with values; write lines such as "status: draft"')
  }
  return new Reading(bounds).mapping(document.contents, 1)
}

export type YamlDocument = ReturnType<typeof parseYamlDocument>

export function parseYamlDocument(yaml: string, bounds: YamlBounds) {
  refuseCostlyYaml(yaml, bounds)
  const lines = new LineCounter()
  const document = withoutStacks(() => parseDocument(yaml, { ...READING, lineCounter: lines }))
  const problem = document.errors[0]
  if (problem === undefined) return document
  if (problem.message.includes('call stack')) throw tooDeep()
  throw badYaml(`line ${lines.linePos(problem.pos[0]).line}: ${messageOf(problem)}`)
}

/** Where the library would advise whoever calls it, the writer of the text is told what to change. */
function messageOf({ code, message }: YAMLParseError): string {
  if (code === 'NON_STRING_KEY') return 'a key is not a text; quote a value that begins with { or [, as "{{title}}"'
  if (code === 'MULTIPLE_DOCS') return 'more follows behind its end, a line that begins with ... or ---'
  return message.split('\n', 1)[0] as string
}

/** The library makes an error of each of many thousand problems, of which one is told; where they happened takes nearly all of the time. */
function withoutStacks<T>(parse: () => T): T {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return parse()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

interface Anchored {
  value: JsonValue
  values: number
  characters: number
}

/** Goes through the document in order, so an alias finds what its anchor meant at that place. */
class Reading {
  readonly #anchors = new Map<string, Anchored>()
  readonly #bounds: YamlBounds
  #values = 0
  #characters = 0
  #isText = false

  constructor(bounds: YamlBounds) {
    this.#bounds = bounds
  }

  mapping(map: YAMLMap, depth: number): Metadata {
    const result: Metadata = {}
    for (const { key, value } of map.items) {
      const name = dropUnstorable(isScalar(key) ? String(key.value) : String(this.#value(key, depth)))
      checkKey(name)
      if (Object.hasOwn(result, name)) throw badYaml(`the key "${name}" stands in it twice`)
      if (isScalar(key) && key.anchor !== undefined) {
        this.#anchors.set(key.anchor, { value: name, values: 1, characters: name.length })
      }
      this.#characters += name.length
      if (depth === 1) this.#isText = TEXTS.has(name)
      result[name] = this.#value(value, depth)
    }
    return result
  }

  #value(node: unknown, depth: number): JsonValue {
    if (node === null || node === undefined) return null
    if (isAlias(node)) return this.#alias(node.source)
    const before = { values: this.#values, characters: this.#characters }
    const value = this.#plainValue(node, depth)
    this.#count(1, typeof value === 'string' ? value.length : 0)
    const anchor = (node as { anchor?: string }).anchor
    if (anchor !== undefined) {
      const values = this.#values - before.values
      this.#anchors.set(anchor, { value, values, characters: this.#characters - before.characters })
    }
    return value
  }

  #plainValue(node: unknown, depth: number): JsonValue {
    if (isScalar(node)) return scalarValue(node, this.#isText)
    if (depth >= MAX_DEPTH) throw tooDeep()
    if (isMap(node)) return this.mapping(node, depth + 1)
    return (node as YAMLSeq).items.map((item) => this.#value(item, depth + 1))
  }

  #alias(name: string): JsonValue {
    const anchored = this.#anchors.get(name)
    if (anchored === undefined) throw badYaml(`the alias *${name} has no anchor before it`)
    this.#count(anchored.values, anchored.characters)
    return anchored.value
  }

  #count(values: number, characters: number): void {
    this.#values += values
    this.#characters += characters
    if (this.#values > MAX_VALUES) throw badYaml(`its aliases stand for more than ${MAX_VALUES} values`)
    const { characters: most } = this.#bounds
    if (this.#characters > most) throw badYaml(`with its aliases it is longer than ${most} characters`)
  }
}

function scalarValue({ value, source }: Scalar, isText: boolean): JsonValue {
  if (typeof value === 'string') return dropUnstorable(value)
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'number') return dropUnstorable(source ?? String(value))
  // What a number cannot hold stays as it is written: .inf, .nan, long identifiers, post codes such as 01234, phone numbers.
  const isHeld = Number.isFinite(value) && (String(value) === source || !(isText || isDigits(source)))
  return isHeld || source === undefined ? value : source
}

function isDigits(source = ''): boolean {
  return /^[-+]?\d+$/.test(source)
}
