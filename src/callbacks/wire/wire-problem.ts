import { AppError } from '../../platform/errors/app-error.ts'

const LONGEST_NAME = 100
const LONGEST_PLACE = 300

/** What is wrong at one place of a message. On its way up it learns where that place is. */
export class WireProblem extends Error {
  place = ''
}

/** For `throw withinField(error, name)` on the way up. Whatever is no problem of the message passes unchanged. */
export function withinField(error: unknown, name: string): unknown {
  if (error instanceof WireProblem) {
    const shown = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name
    const isDirect = error.place === '' || error.place.startsWith('[')
    error.place = (isDirect ? shown + error.place : `${shown}.${error.place}`).toWellFormed()
  }
  return error
}

/** For `throw withinItem(error, index)`. */
export function withinItem(error: unknown, index: number): unknown {
  return withinField(error, `[${index}]`)
}

export function toInvalidArgument(problem: WireProblem): AppError {
  const place = problem.place === '' ? 'The request' : problem.place
  const shown = place.length > LONGEST_PLACE ? `${place.slice(0, LONGEST_PLACE)}…`.toWellFormed() : place
  return new AppError('invalid_argument', `${shown} ${problem.message}`)
}
