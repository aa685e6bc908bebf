import { AppError } from '../../platform/errors/app-error.ts'

const LONGEST_QUOTE = 40

/** Positions count characters from 1. */
export function invalidQuery(query: string, offset: number, problem: string): AppError {
  const position = Array.from(query.slice(0, offset)).length + 1
  return new AppError('invalid_argument', `invalid query: ${problem}, at position ${position}`)
}

/** A piece of the query as a message may show it. */
export function quoted(text: string): string {
  const characters = Array.from(text.slice(0, 2 * LONGEST_QUOTE + 2))
  const shown = characters.length > LONGEST_QUOTE ? `${characters.slice(0, LONGEST_QUOTE).join('')}…` : text
  return JSON.stringify(shown)
}
