import { isUtf8 } from 'node:buffer'
import { AppError } from '../../platform/errors/app-error.ts'
import { MAX_DEPTH, shapeProblem } from '../../platform/http/json-shape.ts'

/** A number that a JavaScript number would not write as it was given. `JSON.stringify` writes it unchanged. */
export interface ExactNumber {
  readonly rawJSON: string
}

// Part of the language since 2025, but not yet of the type declarations.
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): ExactNumber
  isRawJSON(value: unknown): value is ExactNumber
}

export { isRawJSON as isExactNumber }

/** A value outside a text that may not survive as a JavaScript number: many digits, a fraction, an exponent, -0. */
const MAY_LOSE_DIGITS = /(?:^|[\s:,[])(?:-0|-?\d{16}|-?\d+[.eE])/

/** The JSON of a body with every number as it was written. An empty body is undefined. */
export function parseJson(body: Uint8Array): unknown {
  if (body.length === 0) return undefined
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0
  const text = decodeText(start === 0 ? body : body.subarray(start))
  if (text === undefined) throw unusable('is not valid JSON: it is not UTF-8')
  if (shapeProblem(body) !== undefined) throw unusable(`is nested more than ${MAX_DEPTH} levels deep`)
  const value = parseExactly(text)
  // The parser's own message quotes the body, which may hold a secret.
  if (value === undefined) throw unusable('is not valid JSON')
  return value
}

export function decodeText(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes)) return undefined
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/** Undefined when the text is no JSON. */
export function parseExactly(text: string): unknown {
  try {
    return MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, keepNumber) : JSON.parse(text)
  } catch {
    return undefined
  }
}

function keepNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value
  return String(value) === context.source ? value : rawJSON(context.source)
}

function unusable(problem: string): AppError {
  return new AppError('invalid_argument', `The request body ${problem}`)
}
