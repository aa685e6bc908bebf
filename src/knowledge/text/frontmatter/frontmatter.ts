import type { Metadata } from './metadata.ts'
import { writeYaml } from './yaml-write.ts'

export { hasOwnSpelling, spelledAs } from './numerals.ts'
export { editYaml } from './yaml-edit.ts'
export { parseEditedYaml, parseStoredYaml, parseYaml } from './yaml-read.ts'

export interface TextParts {
  /** What stands between the fences; null without frontmatter. */
  yaml: string | null
  /** Everything before the body: the fences, and the one empty line after them where there is one. */
  head: string
  body: string
}

const LF = 10
const CR = 13

/** `head + body` is the text again, byte for byte. A fence that is never closed is body. */
export function splitText(text: string): TextParts {
  const opening = openingFence(text)
  const yamlStart = opening === -1 ? -1 : afterFence(text, opening)
  const closing = yamlStart === -1 ? -1 : closingFence(text, yamlStart)
  if (closing === -1) return { yaml: null, head: '', body: text }
  const bodyStart = afterEmptyLine(text, afterFence(text, closing))
  return { yaml: text.slice(yamlStart, closing), head: text.slice(0, bodyStart), body: text.slice(bodyStart) }
}

/** The fences with the metadata between them; `title`, `type` and `permalink` come first. */
export function writeHead(metadata: Metadata): string {
  return `---\n${writeYaml(metadata)}---\n`
}

export function composeText(metadata: Metadata, body: string): string {
  const head = writeHead(metadata)
  return body === '' ? head : `${head}\n${body}`
}

/** The same head with other YAML between its fences; whatever else stands in it stays. */
export function replaceYaml(parts: TextParts, yaml: string): string {
  if (parts.yaml === null) return `---\n${yaml}---\n${parts.body === '' ? '' : '\n'}`
  const start = afterFence(parts.head, openingFence(parts.head))
  return parts.head.slice(0, start) + yaml + parts.head.slice(start + parts.yaml.length)
}

/** Where the first line that is not blank begins, if it is a fence. */
function openingFence(text: string): number {
  let lineStart = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === LF) lineStart = at + 1
    else if (code !== CR && !isBlank(code)) return at === lineStart && text.startsWith('---', at) ? at : -1
  }
  return -1
}

function closingFence(text: string, from: number): number {
  for (let at = from; at !== -1 && at < text.length; at = lineAfter(text, at)) {
    if (text.startsWith('---', at) && afterFence(text, at) !== -1) return at
  }
  return -1
}

function lineAfter(text: string, at: number): number {
  // Jumping to the next candidate instead of the next line: frontmatter that never ends is the usual big one.
  const found = text.indexOf('\n---', at)
  return found === -1 ? -1 : found + 1
}

/** Where the line after the fence at `at` begins, or -1 when more stands on its line than a fence. */
function afterFence(text: string, at: number): number {
  let end = at + 3
  while (end < text.length && isBlank(text.charCodeAt(end))) end++
  if (end === text.length) return end
  const code = text.charCodeAt(end)
  if (code === LF) return end + 1
  return code === CR && text.charCodeAt(end + 1) === LF ? end + 2 : -1
}

function afterEmptyLine(text: string, at: number): number {
  if (text.charCodeAt(at) === LF) return at + 1
  return text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? at + 2 : at
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
