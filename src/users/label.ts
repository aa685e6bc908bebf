import { AppError } from '../platform/errors/app-error.ts'
import { isLonger } from '../platform/text/is-longer.ts'

export const LONGEST_LABEL = 255
// A terminal would obey some of them, and PostgreSQL cannot store others.
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u

/** What is wrong with the name of a role, a key or a token; undefined when nothing is. */
export function labelProblem(text: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return 'must not be empty'
  if (isLonger(trimmed, LONGEST_LABEL)) return `must have at most ${LONGEST_LABEL} characters`
  return UNPRINTABLE.test(trimmed) ? 'must not hold control characters' : undefined
}

export function parseLabel(text: string): string {
  const problem = labelProblem(text)
  if (problem !== undefined) throw new AppError('invalid_argument', `name ${problem}`)
  return text.trim()
}
