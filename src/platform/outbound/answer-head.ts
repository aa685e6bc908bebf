import type { AnswerHeaders } from './outbound-request.ts'

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
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const UNPRINTABLE = /[^\t\x20-\x7e\x80-\xff]/
const FOLDED = /\r\n[ \t]+/g
const LENGTH = /^[0-9]{1,15}$/
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
  // Old servers continue a line on the next one.
  const text = given.includes('\r\n ') || given.includes('\r\n\t') ? given.replace(FOLDED, ' ') : given
  const [statusLine = '', ...lines] = text.split('\r\n')
  if (UNPRINTABLE.test(statusLine)) throw new NoAnswer('its status line has control characters')
  const [, minor, status, statusText = ''] = STATUS_LINE.exec(statusLine) ?? []
  if (status === undefined) throw new NoAnswer('it does not begin with a status line')
  const headers: AnswerHeaders = {}
  for (const line of lines) addHeader(headers, line)
  const body = bodyEnd(Number(status), headers)
  return {
    status: Number(status),
    statusText,
    headers,
    body,
    keepsMs: body === 'close' ? 0 : keepsMs(headers, minor === '0'),
  }
}

function addHeader(headers: AnswerHeaders, line: string): void {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
  const value = line.slice(colon + 1).trim()
  if (!TOKEN.test(name) || UNPRINTABLE.test(value)) throw new NoAnswer('a line of its head is no header')
  const before = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (before === undefined) define(headers, name, value)
  else headers[name] = [...[before].flat(), value] as string[]
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
  if (status < 200 || status === NO_CONTENT || status === NOT_MODIFIED) return 0
  if (coding !== undefined) return wordsOf(coding).at(-1) === 'chunked' ? 'chunks' : 'close'
  return length === undefined ? 'close' : Number(length)
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
    .map((word) => word.trim())
}
