import { AppError } from '../../../platform/errors/app-error.ts'
import { shortened } from '../../../platform/text/shortened.ts'
import { listLines } from './line-list.ts'
import { occurrencesOf } from './occurrences.ts'

// Far above what a note may hold; whoever saves the note has the exact limit. Here it keeps the memory bounded.
const LONGEST_RESULT = 16_000_000

/** Replaces every occurrence, but only when there are as many as expected. */
export function findReplace(
  text: string,
  wanted: string | null | undefined,
  replacement: string,
  expected: number,
): string {
  if (wanted === null || wanted === undefined || wanted.trim() === '') {
    throw invalid('find_text is required for find_replace and must not be empty or whitespace')
  }
  const found = occurrencesOf(text, wanted)
  if (found.length === 0) {
    throw invalid(`Text to replace not found: "${shown(wanted)}" must stand in the note exactly so, case included`)
  }
  if (found.length !== expected) {
    throw invalid(
      `Expected ${occurrences(expected)} of "${shown(wanted)}", found ${occurrences(found.length)} ` +
        `(${listLines(linesOf(text, found))}): correct expected_replacements or give more of the text around`,
    )
  }
  const length = text.length + found.length * (replacement.length - wanted.length)
  if (length > LONGEST_RESULT)
    throw invalid(`The edited note would have ${length} characters; at most ${LONGEST_RESULT} can be edited at once`)
  return replaceAt(text, found, wanted.length, replacement)
}

function replaceAt(text: string, found: readonly number[], length: number, replacement: string): string {
  const parts: string[] = []
  let from = 0
  for (const at of found) {
    parts.push(text.slice(from, at))
    from = at + length
  }
  parts.push(text.slice(from))
  return parts.join(replacement)
}

/** Numbers of the lines, from 1, on which the offsets stand; the offsets ascend. */
function linesOf(text: string, offsets: readonly number[]): number[] {
  let line = 1
  let newline = text.indexOf('\n')
  return offsets.map((offset) => {
    for (; newline !== -1 && newline < offset; newline = text.indexOf('\n', newline + 1)) line++
    return line
  })
}

function occurrences(count: number): string {
  return `${count} ${count === 1 ? 'occurrence' : 'occurrences'}`
}

function shown(text: string): string {
  return shortened(text, 200)
}

function invalid(message: string): AppError {
  return new AppError('invalid_argument', message)
}
