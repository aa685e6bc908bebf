import { findSection, requireSection, type Section, withoutHeading } from './section.ts'

/** Everything under the heading is replaced; a section that is missing is added at the end. */
export function replaceSection(
  body: string,
  title: string,
  content: string,
  replacesSubsections: boolean,
  firstLine: number,
): string {
  const section = findSection(body, title, firstLine)
  const text = withoutHeading(content, title)
  if (section === undefined) return `${withBlankLineAfter(body)}${title}\n${text}`
  const rest = body.slice(replacesSubsections ? section.end : section.ownEnd)
  return upToHeading(body, section) + (rest === '' || text === '' ? text : withLineEnd(text)) + rest
}

export function insertBeforeSection(body: string, title: string, content: string, firstLine: number): string {
  const { heading } = requireSection(body, title, firstLine)
  if (content === '') return body
  const before = body.slice(0, heading.start)
  const isSpaced = beginsWithBlankLine(content)
  return (isSpaced ? before : withBlankLineAfter(before)) + withBlankLineAfter(content) + body.slice(heading.start)
}

export function insertAfterSection(body: string, title: string, content: string, firstLine: number): string {
  const section = requireSection(body, title, firstLine)
  if (content === '') return body
  const rest = body.slice(section.heading.end)
  const isSpaced = rest === '' || beginsWithBlankLine(rest)
  const text = rest === '' ? content : isSpaced ? withLineEnd(content) : withBlankLineAfter(content)
  return upToHeading(body, section) + text + rest
}

export function deleteSection(body: string, title: string, firstLine: number): string {
  const { heading, end } = requireSection(body, title, firstLine)
  return body.slice(0, heading.start) + body.slice(end)
}

/** The body up to and with the heading's line, which may be the last one without an end. */
function upToHeading(body: string, { heading }: Section): string {
  return withLineEnd(body.slice(0, heading.end))
}

export function withLineEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** The text with an empty line at its end; nothing needs to be divided from an empty text. */
function withBlankLineAfter(text: string): string {
  if (text === '') return text
  const lines = withLineEnd(text)
  const lastLine = lines.slice(lines.lastIndexOf('\n', lines.length - 2) + 1)
  return lastLine.trim() === '' ? lines : `${lines}\n`
}

function beginsWithBlankLine(text: string): boolean {
  const newline = text.indexOf('\n')
  return newline !== -1 && text.slice(0, newline).trim() === ''
}
