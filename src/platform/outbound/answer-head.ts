import type { AnswerHeaders } from './carrier.ts'
import { isBlank, isHeaderName, isLineText, withoutBlanks } from './header-text.ts'

/** Where the body ends: after so many bytes, with the last chunk, or with the connection. */
export type BodyEnd = number | 'chunks' | 'close'

/** The head of an HTTP/1.1 answer. Nobody changes it: others may have been given the same one. */
export interface AnswerHead {
  readonly status: number
  /** The reason phrase. */
  readonly statusText: string
  readonly headers: AnswerHeaders
  readonly body: BodyEnd
  /** For how many milliseconds the receiver keeps the connection: undefined when it does not say, 0 for not at all. */
  readonly keepsMs: number | undefined
}

/** What was received is not what HTTP/1.1 says an answer is. */
export class NoAnswer extends Error {
  constructor(what: string) {
    super(`the answer is not HTTP/1.1: ${what}`)
    this.name = 'NoAnswer'
  }
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: (.*))?$/
const FOLDED = /\r\n[ \t]+/g
const FOLDED_LENGTH = /^(?:content-length|transfer-encoding):.*\r\n[ \t]/im
const MOST_HEADERS = 256
const LENGTH = /^[0-9]{1,15}$/
export const SWITCHING_PROTOCOLS = 101
const NO_CONTENT = 204
const NOT_MODIFIED = 304

let lastText = ''
let last: AnswerHead | undefined

/** `text` has one character for each byte, and ends before the empty line. The last one is kept: one receiver answers alike. */
export function readHead(text: string): AnswerHead {
  if (last !== undefined && text === lastText) return last
  const head = parseHead(text)
  lastText = text
  last = head
  return head
}

function parseHead(given: string): AnswerHead {
  const [statusLine = '', ...lines] = given.split('\r\n')
  if (lines.length > MOST_HEADERS) throw new NoAnswer('it has too many headers')
  if (!isLineText(statusLine)) throw new NoAnswer('its status line has control characters')
  const [, minor, digits, statusText = ''] = STATUS_LINE.exec(statusLine) ?? []
  if (digits === undefined) throw new NoAnswer('it does not begin with a status line')
  const [status, isOld] = [Number(digits), minor === '0']
  const headers: AnswerHeaders = {}
  for (const line of unfolded(lines)) addHeader(headers, line)
  const body = bodyEnd(status, headers)
  const keeps = isEndUnclear(status, isOld, headers, body) ? 0 : keepsMs(headers, isOld)
  return { status, statusText, headers, body, keepsMs: keeps }
}

/** Old servers continue a header on the next line. The first one continues nothing, and is no header then. */
function unfolded(lines: readonly string[]): readonly string[] {
  if (!lines.some((line) => isBlank(line, 0))) return lines
  const text = lines.join('\r\n')
  // Who does not know of this reads another length.
  if (FOLDED_LENGTH.test(text)) throw new NoAnswer('how long it is goes on in the next line')
  return text.replace(FOLDED, ' ').split('\r\n')
}

function addHeader(headers: AnswerHeaders, line: string): void {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
  const value = withoutBlanks(line, colon + 1)
  if (!isHeaderName(name) || !isLineText(value)) throw new NoAnswer('a line of its head is no header')
  const before = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (before === undefined) define(headers, name, value)
  else if (Array.isArray(before)) before.push(value)
  else headers[name] = [`${before}`, value]
}

/** Throws when this line of a trailer is no header, or says how long the body is, which is over. */
export function checkTrailer(line: string): void {
  const trailer: AnswerHeaders = {}
  addHeader(trailer, line)
  if (trailer['content-length'] !== undefined || trailer['transfer-encoding'] !== undefined) {
    throw new NoAnswer('it says in two ways how long it is')
  }
}

function define(headers: AnswerHeaders, name: string, value: string): void {
  if (name === '__proto__') Object.defineProperty(headers, name, { value, writable: true, enumerable: true })
  else headers[name] = value
}

function bodyEnd(status: number, headers: AnswerHeaders): BodyEnd {
  const coding = headers['transfer-encoding']
  const length = headers['content-length']
  // Two answers could be read out of one that says both, or one of them twice.
  if (Array.isArray(length) || (length !== undefined && coding !== undefined)) {
    throw new NoAnswer('it says in two ways how long it is')
  }
  if (length !== undefined && !LENGTH.test(`${length}`)) throw new NoAnswer('its length is no number')
  if (coding !== undefined && !wordsOf(coding).every((word) => isHeaderName(word))) {
    throw new NoAnswer('how it is transferred cannot be told')
  }
  if (status < 200 || status === NO_CONTENT || status === NOT_MODIFIED) return 0
  if (coding !== undefined) return wordsOf(coding).at(-1) === 'chunked' ? 'chunks' : 'close'
  return length === undefined ? 'close' : Number(length)
}

/** Whether the receiver may mean another end than we do, so that what follows cannot be told from the rest of it. */
function isEndUnclear(status: number, isOld: boolean, headers: AnswerHeaders, body: BodyEnd): boolean {
  if (body === 'close') return true
  const hasCoding = headers['transfer-encoding'] !== undefined
  if (isOld && hasCoding) return true
  return status === NO_CONTENT && (hasCoding || Number(headers['content-length'] ?? 0) > 0)
}

function keepsMs(headers: AnswerHeaders, isOld: boolean): number | undefined {
  if (headers.connection !== undefined || isOld) {
    const connection = wordsOf(headers.connection)
    if (connection.includes('close') || (isOld && !connection.includes('keep-alive'))) return 0
  }
  const seconds = /(?:^|[ ,])timeout=([0-9]{1,9})/i.exec(`${headers['keep-alive'] ?? ''}`)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1_000
}

function wordsOf(value: AnswerHeaders[string]): string[] {
  return `${value ?? ''}`
    .toLowerCase()
    .split(',')
    .map((word) => withoutBlanks(word, 0))
}
