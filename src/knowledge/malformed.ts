import { AppError } from '../platform/errors/app-error.ts'

/** Where in a request it is: `['query', 'timeframe']`. */
export type Place = readonly [part: 'body' | 'query' | 'path', ...at: (string | number)[]]

interface Malformed {
  errors: { loc: Place; msg: string; type: string }[]
}

/** A value that no schema could judge. The answer says where it is, as it does of what schemas refuse. */
export function malformed(place: Place, text: string): AppError {
  const detail: Malformed = { errors: [{ loc: place, msg: text, type: 'value' }] }
  return new AppError('unprocessable', text, { details: [detail] })
}

/** The details of an error of one operation of a batch: what it names is in the body of the batch. */
export function detailsInBatch(details: readonly unknown[], index: number): unknown[] {
  return details.map((detail) => {
    if (!isMalformed(detail)) return detail
    const errors = detail.errors.map((error) => ({
      ...error,
      loc: ['body', 'operations', index, ...error.loc.slice(1)],
    }))
    return { ...detail, errors }
  })
}

function isMalformed(detail: unknown): detail is Malformed {
  return typeof detail === 'object' && detail !== null && 'errors' in detail
}
