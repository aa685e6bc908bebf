import { resolve } from 'node:path'
import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { Path } from './origins.ts'
import type { Problems } from './problems.ts'
import { readTextFile } from './read-text-file.ts'
import { isRecord } from './setting.ts'

const DEFAULT_FILE = 'commonplace.yaml'
const EXAMPLE = 'server: { port: 4040 }'
const EXAMPLE_FLAG = `--config ${DEFAULT_FILE}`

// After the first mistakes the rest is mostly a consequence of them.
const MOST_SYNTAX_ERRORS = 5

export interface SettingsFile {
  path: string
  tree: Record<string, unknown>
  /** Path and line of a value, to be shown. */
  placeOf(path: Path): string
}

/** The file that was named, else the one in the working directory, else none. */
export function readSettingsFile(named: string | undefined, cwd: string, problems: Problems): SettingsFile | null {
  const path = resolve(cwd, named ?? DEFAULT_FILE)
  const file = readTextFile(path)
  if ('text' in file) return parseYaml(file.text, path, problems)
  if (named !== undefined || !file.missing) {
    problems.add(() => ({ path, message: `${file.wrong}; name a readable YAML file.`, example: EXAMPLE_FLAG }))
  }
  return null
}

/** Strict YAML 1.2: no duplicate keys, no unknown tags, few aliases, one document. */
export function parseYaml(text: string, path: string, problems: Problems): SettingsFile {
  const empty = { path, tree: {}, placeOf: () => path }
  try {
    const lines = new LineCounter()
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      schema: 'core',
      stringKeys: true,
      // The parser compares every key with every other one, which takes minutes for a large map.
      uniqueKeys: false,
      logLevel: 'error',
    })
    const mistakes = [...document.errors, ...document.warnings].map(({ pos, message }) => ({ at: pos[0], message }))
    if (mistakes.length === 0) mistakes.push(...duplicateKeys(document))
    for (const { at, message } of mistakes.slice(0, MOST_SYNTAX_ERRORS)) {
      const { line, col } = lines.linePos(at)
      const reason = inShort(message)
      problems.add(() => ({
        path,
        message: `is not valid YAML at line ${line}, column ${col}: ${reason}.`,
        example: EXAMPLE,
      }))
    }
    if (mistakes.length > 0) return empty
    const tree: unknown = document.toJS({ maxAliasCount: 100 })
    if (tree === null || tree === undefined) return empty
    if (isRecord(tree)) return { path, tree, placeOf: (at) => placeOf(document, lines, path, at) }
    problems.add(() => ({
      path,
      message: 'must be a map of sections such as `server` and `storage`.',
      example: EXAMPLE,
    }))
  } catch {
    // Too many aliases, an alias inside itself, or more nesting than the stack carries.
    problems.add(() => ({
      path,
      message: 'is nested too deeply or repeats itself by aliases too often.',
      example: EXAMPLE,
    }))
  }
  return empty
}

function duplicateKeys(document: Document): { at: number; message: string }[] {
  const found: { at: number; message: string }[] = []
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) found.push({ at: key.range?.[0] ?? 0, message: 'This key is there twice' })
        seen.add(key.value)
      }
    },
  })
  return found
}

// The parser's words without the source text that it quotes, which may hold secrets.
function inShort(message: string): string {
  if (message.startsWith('Maximum call stack')) return 'Nested too deeply'
  return (message.split(/[\n;]|(?<=[\w)]): | %/, 1)[0] ?? '').replace(/[.\s]+$/, '').slice(0, 200)
}

// What is missing, and so has no line, is shown where it should be.
function placeOf(document: Document, lines: LineCounter, path: string, at: Path): string {
  for (let length = at.length; length > 0; length -= 1) {
    const node = document.getIn(at.slice(0, length), true)
    if (isNode(node) && node.range) return `${path}:${lines.linePos(node.range[0]).line}`
  }
  return path
}
