import { invalidQuery, quoted } from './invalid-query.ts'

export interface Token {
  /** `word` may be a keyword or a field, `name` stood in back-quotes and is always a field. */
  kind: 'word' | 'name' | 'string' | 'number' | 'symbol' | 'end'
  /** Without its quotes. */
  text: string
  offset: number
}

const MAX_QUERY_BYTES = 10_000

const SPACE = /[ \t\r\n]+/y
// Names of attributes may have hyphens. One before a digit is the sign of a number, as in `BETWEEN -5 AND-1`.
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_.]*(?:-+[\p{L}_][\p{L}\p{M}\p{N}_.]*)*/uy
const NUMBER = /[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/y
const SYMBOL = /!=|<=|>=|[=<>(),]/y
const NO_BREAK = /[\p{L}\p{N}_.'"`]/uy

export function readTokens(query: string): Token[] {
  checkText(query)
  const tokens: Token[] = []
  let offset = 0
  for (;;) {
    offset += (matchAt(SPACE, query, offset) ?? '').length
    if (offset === query.length) break
    const token = readToken(query, offset)
    tokens.push(token.token)
    offset = token.end
  }
  tokens.push({ kind: 'end', text: '', offset })
  return tokens
}

function checkText(query: string): void {
  if (query.length > MAX_QUERY_BYTES || Buffer.byteLength(query) > MAX_QUERY_BYTES) {
    const { read } = new TextEncoder().encodeInto(query, new Uint8Array(MAX_QUERY_BYTES))
    throw invalidQuery(query, read, `it is longer than ${MAX_QUERY_BYTES} bytes`)
  }
  const nul = query.indexOf('\0')
  if (nul >= 0) throw invalidQuery(query, nul, 'it holds a NUL character, which no value has')
  if (query.isWellFormed()) return
  const first = query.search(/\p{Surrogate}/u)
  throw invalidQuery(query, first, 'it holds half of a character, which no value has')
}

function readToken(query: string, offset: number): { token: Token; end: number } {
  const first = query.charAt(offset)
  if (first === "'" || first === '"' || first === '`') return readQuoted(query, offset, first)
  const symbol = matchAt(SYMBOL, query, offset)
  if (symbol !== undefined) return tokenAt('symbol', symbol, offset)
  const word = matchAt(WORD, query, offset)
  if (word !== undefined) return tokenAt('word', word, offset)
  const number = matchAt(NUMBER, query, offset)
  if (number === undefined) {
    throw invalidQuery(query, offset, `${quoted(String.fromCodePoint(query.codePointAt(offset) ?? 0))} has no meaning`)
  }
  const end = offset + number.length
  if (matchAt(NO_BREAK, query, end) !== undefined) {
    throw invalidQuery(query, end, `the number ${quoted(number)} goes on with what is no number; put texts in quotes`)
  }
  return tokenAt('number', number, offset)
}

function tokenAt(kind: Token['kind'], text: string, offset: number): { token: Token; end: number } {
  return { token: { kind, text, offset }, end: offset + text.length }
}

/** A doubled quote stands for itself; in strings a backslash before a quote or a backslash does so, too. */
function readQuoted(query: string, offset: number, quote: string): { token: Token; end: number } {
  let text = ''
  let start = offset + 1
  for (let at = start; at < query.length; at++) {
    const isQuote = query[at] === quote
    const isEscape = query[at] === '\\' && quote !== '`' && `'"\\`.includes(query[at + 1] ?? ' ')
    if (isQuote && query[at + 1] !== quote) {
      text += query.slice(start, at)
      return { token: { kind: quote === '`' ? 'name' : 'string', text, offset }, end: at + 1 }
    }
    if (!isQuote && !isEscape) continue
    text += query.slice(start, at)
    start = at + 1
    at++
  }
  throw invalidQuery(query, offset, `the quote ${quote} is opened and never closed`)
}

function matchAt(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset
  return pattern.exec(text)?.[0]
}
