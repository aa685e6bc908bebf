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

const MOST_FIELDS = 50
const BYTE_ORDER_MARK = '\ufeff'

/** Empty lines are left out. Lines may end in any of the usual ways, and a quoted field may hold line breaks. */
export function* readCsv(text: string): Generator<CsvRecord | BadCsvRecord> {
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  let line = 1
  for (;;) {
    // A file of nothing else must not take longer than one with something in it.
    for (; isBreak(text.charCodeAt(at)); at = afterBreak(text, at)) line += 1
    if (at >= text.length) return
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
  let value = ''
  let from = start + 1
  for (;;) {
    const mark = text.indexOf('"', from)
    if (mark === -1) return undefined
    value += text.slice(from, mark)
    if (text[mark + 1] !== '"') return { value, end: mark + 1, breaks: breaksIn(value) }
    value += '"'
    from = mark + 2
  }
}

function skipped(text: string, at: number, line: number, nextLine: number, problem: string): Reading {
  let end = at
  while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end += 1
  return { line, problem, end: afterBreak(text, end), nextLine: nextLine + 1 }
}

function isStructure(code: number): boolean {
  return code === 0x2c || code === 0x0a || code === 0x0d
}

function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d
}

function afterBreak(text: string, at: number): number {
  return text[at] === '\r' && text[at + 1] === '\n' ? at + 2 : Math.min(text.length, at + 1)
}

function breaksIn(value: string): number {
  let breaks = 0
  for (let i = 0; i < value.length; i++) {
    if (value[i] === '\n' || (value[i] === '\r' && value[i + 1] !== '\n')) breaks += 1
  }
  return breaks
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) || field !== field.trim() ? `"${field.replaceAll('"', '""')}"` : field
}
