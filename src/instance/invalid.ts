import { AppError } from '../platform/errors/app-error.ts'
import { isLonger } from '../platform/text/is-longer.ts'

/** What is wrong with one member of a request. */
export interface FieldProblem {
  /** Its name, with the way to it: `translations.de.text`. Empty for the whole body. */
  field: string
  /** Completes a sentence that begins with the name: `is not a domain name`. */
  text: string
  /** `ERR_BLANK` */
  code: string
}

/** Nobody reads more, and finding more takes time from others. */
export const MOST_PROBLEMS = 100

/** 422 with the problems, in words and by member. `extra` are further members of the body. */
export function invalid(problems: readonly FieldProblem[], extra: object = {}): AppError {
  const shown = problems.slice(0, MOST_PROBLEMS)
  const details: Record<string, { error: string; description: string }[]> = Object.create(null)
  for (const { field, text, code } of shown) {
    const name = field === '' ? 'base' : field
    details[name] = [...(details[name] ?? []), { error: code, description: text }]
  }
  const sentences = shown.map(({ field, text }) => (field === '' ? text : `${field} ${text}`))
  return new AppError('unprocessable', `Validation failed: ${sentences.join(', ')}`, {
    details: [{ details, ...extra }],
  })
}

export function invalidField(field: string, text: string, code = 'ERR_INVALID', extra: object = {}): AppError {
  return invalid([{ field, text, code }], extra)
}

export function recordNotFound(): AppError {
  return new AppError('not_found', 'Record not found')
}

const CONTROL_BUT_LINES = /[^\P{Cc}\t\n\r]/u

export interface TextRules {
  /** In code points. */
  maxLength: number
  required?: boolean
}

/** What is wrong with a text that people will read; undefined when nothing is. */
export function textProblem(field: string, text: string, { maxLength, required }: TextRules): FieldProblem | undefined {
  if (required && text.trim() === '') return { field, text: 'must not be empty', code: 'ERR_BLANK' }
  if (isLonger(text, maxLength)) {
    return { field, text: `must have at most ${maxLength} characters`, code: 'ERR_TOO_LONG' }
  }
  // NUL is refused by PostgreSQL, and the others do harm wherever they are shown.
  if (!text.isWellFormed() || CONTROL_BUT_LINES.test(text)) {
    return { field, text: 'must be text without control characters', code: 'ERR_INVALID' }
  }
  return undefined
}

export function refuseProblems(problems: readonly (FieldProblem | undefined)[]): void {
  const found = problems.filter((problem) => problem !== undefined)
  if (found.length > 0) throw invalid(found)
}
