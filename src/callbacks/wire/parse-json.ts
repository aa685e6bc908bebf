import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { AppError } from '../../platform/errors/app-error.ts'
import { MAX_DEPTH, shapeProblem } from '../../platform/http/input/json-shape.ts'
import { setOwn } from './set-own.ts'

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

const [QUOTE, BACKSLASH, MINUS] = [0x22, 0x5c, 0x2d]
const NUMBER_SIGNS = new Set(Array.from('.eE+-', (sign) => sign.charCodeAt(0)))

// Some stand there again and again, and to make one takes longer than to look it up; of very many different ones none does.
const MOST_KNOWN = 1_000

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
    const value: unknown = JSON.parse(text)
    return MAY_LOSE_DIGITS.test(text) ? parseWithNumbers(text, value) : value
  } catch {
    return undefined
  }
}

/**
 * Valid JSON, parsed once more with a mark in place of each number that would change, which is put back afterwards: a reviver
 * is called for every value.
 */
function parseWithNumbers(text: string, value: unknown): unknown {
  // Nobody can guess it and give it as a text.
  const mark = randomBytes(12).toString('base64url')
  const numbers: ExactNumber[] = []
  const known = new Map<string, number>()
  const marked = markNumbers(text, (number) => {
    const at = known.get(number) ?? numbers.push(rawJSON(number)) - 1
    if (known.size < MOST_KNOWN) known.set(number, at)
    return `"${mark}${at}"`
  })
  if (numbers.length === 0) return value
  const numberOf = (text: string) => (text.startsWith(mark) ? numbers[Number(text.slice(mark.length))] : undefined)
  return putBack(JSON.parse(marked), numberOf)
}

function markNumbers(text: string, mark: (number: string) => string): string {
  let marked = ''
  let copied = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at)
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, at)
      const number = text.slice(at, end)
      if (String(Number(number)) !== number) {
        marked += text.slice(copied, at) + mark(number)
        copied = end
      }
      at = end - 1
    }
  }
  return marked + text.slice(copied)
}

function endOfText(text: string, start: number): number {
  let at = start + 1
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) at += code === BACKSLASH ? 2 : 1
  return at
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1
  for (let code = text.charCodeAt(at); isDigit(code) || NUMBER_SIGNS.has(code); code = text.charCodeAt(at)) at++
  return at
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function putBack(value: unknown, numberOf: (text: string) => ExactNumber | undefined): unknown {
  if (typeof value === 'string') return numberOf(value) ?? value
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at]
      if (typeof item === 'string' || typeof item === 'object') value[at] = putBack(item, numberOf)
    }
  } else if (typeof value === 'object' && value !== null) {
    const object = value as Record<string, unknown>
    for (const key of Object.keys(object)) {
      const member = object[key]
      if (typeof member === 'string' || typeof member === 'object') setOwn(object, key, putBack(member, numberOf))
    }
  }
  return value
}

function unusable(problem: string): AppError {
  return new AppError('invalid_argument', `The request body ${problem}`)
}
