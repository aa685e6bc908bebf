import { AppError } from '../../../platform/errors/app-error.ts'
import { shortened } from '../../../platform/text/shortened.ts'
import { normalForm } from '../normal-form.ts'
import { type Heading, headingsOf, parseHeading } from './headings.ts'
import { listLines } from './line-list.ts'

export interface Section {
  /** The heading as the caller wrote it, with its `#`. */
  title: string
  heading: Heading
  /** Where the section ends: at the next heading of its level or above. */
  end: number
  /** Where its own text ends: at the next heading of any level. */
  ownEnd: number
}

/** The heading that a caller names: `Plan` is `## Plan`, and so is `#plan`, which is no heading by itself, `## #plan`. */
export function sectionTitle(operation: string, section: string | null | undefined): string {
  const title = (section ?? '').trim()
  if (title === '') {
    throw invalid(`section is required for ${operation} and must not be empty: name a heading such as "## Plan"`)
  }
  return title.startsWith('#') && (title.includes('\n') || parseHeading(title) !== null) ? title : `## ${title}`
}

/** Undefined when the text has no such heading. `firstLine` is the number of the body's first line in the note. */
export function findSection(body: string, title: string, firstLine: number): Section | undefined {
  const wanted = namedHeading(title)
  if (wanted === null) {
    throw invalid(`Section "${shown(title)}" was not found: a heading is one line of 1 to 6 "#", a space and text`)
  }
  const headings = headingsOf(body)
  const found = headings.filter((heading) => isSame(heading, wanted))
  if (found.length > 1) {
    const lines = listLines(found.map(({ line }) => line + firstLine - 1))
    throw invalid(`Multiple sections are called "${shown(title)}" (${lines}): make their headings differ first`)
  }
  const heading = found[0]
  if (heading === undefined) return undefined
  const later = headings.slice(headings.indexOf(heading) + 1)
  const next = later.find(({ level }) => level <= heading.level)
  return { title, heading, end: next?.start ?? body.length, ownEnd: later[0]?.start ?? body.length }
}

export function requireSection(body: string, title: string, firstLine: number): Section {
  const section = findSection(body, title, firstLine)
  if (section === undefined) {
    throw invalid(`Section "${shown(title)}" was not found in the note: name one of its headings exactly, "#" included`)
  }
  return section
}

/** The content without the section's own heading, where it begins with it. */
export function withoutHeading(content: string, title: string): string {
  let start = 0
  for (let end = lineEnd(content, start); end > start; end = lineEnd(content, start)) {
    const line = content.slice(start, end).trim()
    if (line !== '') {
      const heading = parseHeading(line)
      const own = namedHeading(title)
      return heading !== null && own !== null && isSame(heading, own) ? content.slice(end) : content
    }
    start = end
  }
  return content
}

function lineEnd(text: string, start: number): number {
  const newline = text.indexOf('\n', start)
  return newline === -1 ? text.length : newline + 1
}

type Named = Pick<Heading, 'level' | 'text'>

/** A heading that others are compared with, in the Unicode form in which they are. */
function namedHeading(line: string): Named | null {
  const heading = parseHeading(line)
  return heading === null ? null : { level: heading.level, text: normalForm(heading.text, 'NFC') }
}

function isSame(heading: Named, named: Named): boolean {
  return heading.level === named.level && normalForm(heading.text, 'NFC') === named.text
}

function shown(title: string): string {
  return shortened(title, 200)
}

function invalid(message: string): AppError {
  return new AppError('invalid_argument', message)
}
