/** Comma-separated values as RFC 4180 has them, read in one pass. */

export interface CsvRecord {
  /** Where it begins, from 1. */
  line: number
  fields: string[]
}

export interface BadCsvRecord {
  line: number
  /** Completes a sentence that begins with the line. */
  problem: string
}

/** Stands between records where others may have their turn, since much was read. */
export const PAUSE = Symbol('pause')

const MOST_FIELDS = 50
// Far more than anybody writes about a domain.
const LONGEST_RECORD = 64 * 1024
const PAUSE_EVERY = 4 * 1024
const BYTE_ORDER_MARK = '\ufeff'
const [QUOTE, COMMA, LF, CR] = [0x22, 0x2c, 0x0a, 0x0d]

/** Empty lines are left out. Lines may end in any of the usual ways, and a quoted field may hold line breaks. */
export function* readCsv(text: string): Generator<CsvRecord | BadCsvRecord | typeof PAUSE> {
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  let line = 1
  let pauseAt = PAUSE_EVERY
  for (;;) {
    if (at >= pauseAt) {
      pauseAt = at + PAUSE_EVERY
      yield PAUSE
    }
    if (at >= text.length) return
    // A file of nothing else must not take longer than one with something in it.
    if (isBreak(text.charCodeAt(at))) {
      at = afterBreak(text, at)
      line += 1
      continue
    }
    const record = readRecord(text, at, line)
    at = record.end
    line = record.nextLine
    if ('problem' in record) yield { line: record.line, problem: record.problem }
    else if (record.fields.length > 1 || record.fields[0] !== '') yield { line: record.line, fields: record.fields }
  }
}

/** One record with its line end. What could be taken for structure is quoted. */
export function writeCsv(fields: readonly string[]): string {
  return `${fields.map(quoted).join(',')}\n`
}

type Reading = { line: number; end: number; nextLine: number } & ({ fields: string[] } | { problem: string })

function readRecord(text: string, start: number, line: number): Reading {
  const fields: string[] = []
  let at = start
  let nextLine = line
  for (;;) {
    const field = text[at] === '"' ? readQuoted(text, at) : readPlain(text, at)
    if (field === undefined) {
      return { line, end: text.length, nextLine, problem: 'has a quotation mark that is never closed' }
    }
    nextLine += field.breaks
    at = field.end
    if (at - start > LONGEST_RECORD) {
      return skipped(text, at, line, nextLine, `has more than ${LONGEST_RECORD} characters`)
    }
    const isEnd = at >= text.length || text[at] === '\n' || text[at] === '\r'
    if (!isEnd && text[at] !== ',') return skipped(text, at, line, nextLine, 'goes on after a closing quotation mark')
    if (fields.length === MOST_FIELDS) return skipped(text, at, line, nextLine, `has more than ${MOST_FIELDS} fields`)
    fields.push(field.value)
    if (isEnd) return { line, fields, end: afterBreak(text, at), nextLine: nextLine + 1 }
    at += 1
  }
}

function readPlain(text: string, start: number) {
  let end = start
  while (end < text.length && !isStructure(text.charCodeAt(end))) end += 1
  return { value: text.slice(start, end), end, breaks: 0 }
}

/** A quotation mark inside is written twice. Undefined when the field is never closed. */
function readQuoted(text: string, start: number) {
  let end = start + 1
  let breaks = 0
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    if (code === QUOTE && text.charCodeAt(end + 1) !== QUOTE) break
    if (code === QUOTE) end += 1
    else if (code === LF || (code === CR && text.charCodeAt(end + 1) !== LF)) breaks += 1
  }
  if (end >= text.length) return undefined
  // One that is too long is refused, whatever it says.
  const value = end - start > LONGEST_RECORD ? '' : text.slice(start + 1, end).replaceAll('""', '"')
  return { value, end: end + 1, breaks }
}

function skipped(text: string, at: number, line: number, nextLine: number, problem: string): Reading {
  let end = at
  while (end < text.length && !isBreak(text.charCodeAt(end))) end += 1
  return { line, problem, end: afterBreak(text, end), nextLine: nextLine + 1 }
}

function isStructure(code: number): boolean {
  return code === COMMA || isBreak(code)
}

function isBreak(code: number): boolean {
  return code === LF || code === CR
}

function afterBreak(text: string, at: number): number {
  return text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? at + 2 : Math.min(text.length, at + 1)
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) || field !== field.trim() ? `"${field.replaceAll('"', '""')}"` : field
}
