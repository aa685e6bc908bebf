import { isDeepStrictEqual } from 'node:util'
import { isMap, isNode, isScalar, type Pair, type Range, type YAMLMap } from 'yaml'
import type { JsonValue, Metadata } from './metadata.ts'
import type { YamlBounds } from './yaml-bounds.ts'
import { parseYaml, parseYamlDocument, valuesOf, withinBounds, type YamlDocument } from './yaml-read.ts'
import { FIRST, isScalarValue, writeEntry, writeScalar, writeYaml } from './yaml-write.ts'

interface Splice {
  start: number
  end: number
  text: string
}

/**
 * Sets keys, deletes those that are null, and leaves those that are emptied without a value. The bytes of all others
 * stay: comments, order, quotes.
 */
export function editYaml(yaml: string, changes: Metadata, emptied: readonly string[] = []): string {
  const all = Object.entries(changes).map(([key, value]) => [key, value === null ? undefined : value])
  const empty = emptied.map((key) => [key, null])
  return withinBounds(yaml, (bounds) => editWithin(bounds, yaml, Object.fromEntries([...all, ...empty])))
}

/** Undefined deletes a key. */
type Changes = Record<string, JsonValue | undefined>

function editWithin(bounds: YamlBounds, yaml: string, changes: Changes): string {
  const document = parseYamlDocument(yaml, bounds)
  const before = valuesOf(document, bounds)
  const edited = spliced(yaml, document, before, changes)
  // Anchors, flow style and other rarities: where splicing would say something else, everything is written anew.
  if (edited !== null && means(edited, merge(before, asWritten(changes)), bounds)) return edited
  return writeYaml(merge(before, changes), bounds)
}

/** Our own writer decides what a text such as a lone surrogate becomes. */
function asWritten(changes: Changes): Changes {
  const deleted = Object.entries(changes).filter(([, value]) => value === undefined)
  return { ...Object.fromEntries(deleted), ...parseYaml(writeYaml(merge({}, changes))) }
}

function merge(before: Metadata, changes: Changes): Metadata {
  const after = { ...before }
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) delete after[key]
    else after[key] = value
  }
  return after
}

function means(yaml: string, wanted: Metadata, bounds: YamlBounds): boolean {
  try {
    return isDeepStrictEqual(parseYaml(yaml, bounds), wanted)
  } catch {
    return false
  }
}

function spliced(yaml: string, { contents: root }: YamlDocument, before: Metadata, changes: Changes): string | null {
  if (root !== null && (!isMap(root) || root.flow)) return null
  const newline = yaml.includes('\r\n') ? '\r\n' : '\n'
  const places = placesOf(root)
  const splices: Splice[] = []
  const added: Metadata = {}
  for (const [key, value] of Object.entries(changes)) {
    const pair = places.get(key)
    if (pair === undefined) {
      if (value !== undefined) added[key] = value
    } else if (!isDeepStrictEqual(before[key], value)) {
      const splice = spliceOf(yaml, pair, key, value, newline)
      if (splice === null) return null
      splices.push(splice)
    }
  }
  for (const key of FIRST) {
    const value = added[key]
    if (value !== undefined) splices.push(insertionOf(yaml, places, key, value, newline))
    delete added[key]
  }
  const edited = applied(yaml, splices)
  const gap = edited === '' || edited.endsWith('\n') ? '' : newline
  return edited + gap + writeYaml(added).replaceAll('\n', newline)
}

/** Keys that every note has stand at the beginning, in their order; all others are added at the end. */
function insertionOf(yaml: string, places: Map<string, Pair>, key: string, value: JsonValue, newline: string): Splice {
  const earlier = FIRST.slice(0, FIRST.indexOf(key)).findLast((name) => places.has(name))
  const range = earlier === undefined ? null : rangeOf(places.get(earlier)?.value)
  const at = range === null ? 0 : lineEnd(yaml, range[1])
  return { start: at, end: at, text: writeEntry(key, value).replaceAll('\n', newline) }
}

function placesOf(root: YAMLMap | null): Map<string, Pair> {
  const places = new Map<string, Pair>()
  for (const pair of root?.items ?? []) if (isScalar(pair.key)) places.set(String(pair.key.value), pair)
  return places
}

function spliceOf(yaml: string, pair: Pair, key: string, value: Changes[string], newline: string): Splice | null {
  const keyRange = rangeOf(pair.key)
  const range = rangeOf(pair.value)
  if (keyRange === null || range === null) return null
  const [start, end] = range
  if (value !== undefined && isScalarValue(value) && isScalar(pair.value) && end > start) {
    const isOneLine = !yaml.slice(start, end).includes('\n')
    if (isOneLine) return { start, end, text: writeScalar(value) }
  }
  const lineStart = yaml.lastIndexOf('\n', keyRange[0] - 1) + 1
  const text = value === undefined ? '' : writeEntry(key, value).replaceAll('\n', newline)
  return { start: keyRange[0] === 0 ? 0 : lineStart, end: lineEnd(yaml, end), text }
}

function rangeOf(node: unknown): Range | null {
  return isNode(node) ? (node.range ?? null) : null
}

function lineEnd(yaml: string, at: number): number {
  if (at > 0 && yaml[at - 1] === '\n') return at
  const found = yaml.indexOf('\n', at)
  return found === -1 ? yaml.length : found + 1
}

function applied(yaml: string, splices: Splice[]): string {
  let result = ''
  let from = 0
  // What is only added at a place comes before what is replaced there.
  for (const { start, end, text } of splices.sort((a, b) => a.start - b.start || a.end - b.end)) {
    result += yaml.slice(from, start) + text
    from = end
  }
  return result + yaml.slice(from)
}
