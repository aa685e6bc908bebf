import type { FieldProblem } from '../invalid.ts'
import { PAUSE, readCsv, writeCsv } from './csv.ts'
import { type BlockRules, commentProblems, DEFAULT_RULES, type DomainBlock, SEVERITIES } from './domain-block.ts'
import { normaliseDomain } from './normalise-domain.ts'

/** The columns of other servers' lists, in their order. */
const COLUMNS = ['domain', 'severity', 'reject_media', 'reject_reports', 'public_comment', 'obfuscate'] as const
type Column = (typeof COLUMNS)[number]

export type BlockLine =
  | { line: number; domain: string; rules: BlockRules }
  /** `domain` as it was written, in short. */
  | { line: number; domain: string; problem: string }

export const CSV_HEADER = writeCsv(COLUMNS.map((column) => `#${column}`))

export function blockToCsv(block: DomainBlock): string {
  const { domain, severity, rejectMedia, rejectReports, publicComment, obfuscate } = block
  return writeCsv([domain, severity, String(rejectMedia), String(rejectReports), publicComment, String(obfuscate)])
}

/**
 * One by one, good and bad. The first line may name the columns, in any order and with or without the sign before them;
 * without such a line they are in the order of other servers' lists, of which a plain list of domains has the first.
 */
export function* readBlockLines(text: string): Generator<BlockLine | typeof PAUSE> {
  let columns: readonly (Column | undefined)[] | undefined
  for (const record of readCsv(text)) {
    if (record === PAUSE) {
      yield record
      continue
    }
    if ('problem' in record) {
      yield { line: record.line, domain: '', problem: record.problem }
      continue
    }
    const header = columns === undefined ? headerOf(record.fields) : undefined
    columns ??= header ?? COLUMNS
    if (header === undefined) yield readLine(record.line, valuesOf(columns, record.fields))
  }
}

function headerOf(fields: readonly string[]): (Column | undefined)[] | undefined {
  const names = fields.map((field) => field.trim().toLowerCase().replace(/^#/, ''))
  return names.includes('domain') ? names.map((name) => COLUMNS.find((column) => column === name)) : undefined
}

type Values = Partial<Record<Column, string>>

function valuesOf(columns: readonly (Column | undefined)[], fields: readonly string[]): Values {
  const values: Values = {}
  for (const [index, column] of columns.entries()) {
    if (column !== undefined) values[column] = fields[index] ?? ''
  }
  return values
}

const LONGEST_SHOWN = 100

function readLine(line: number, values: Values): BlockLine {
  const given = (values.domain ?? '').trim()
  const domain = normaliseDomain(given)
  const problems: FieldProblem[] = []
  const rules: BlockRules = {
    severity: severityOf(values.severity, problems),
    rejectMedia: truthOf('reject_media', values.reject_media, problems),
    rejectReports: truthOf('reject_reports', values.reject_reports, problems),
    privateComment: '',
    publicComment: values.public_comment ?? '',
    obfuscate: truthOf('obfuscate', values.obfuscate, problems),
  }
  const comments = commentProblems(rules).filter((problem) => problem !== undefined)
  const isBlank = given === '' ? 'domain must not be empty' : 'domain is not a valid domain name'
  const texts = [...problems, ...comments].map(({ field, text }) => `${field} ${text}`)
  if (domain !== undefined && texts.length === 0) return { line, domain, rules }
  const problem = [...(domain === undefined ? [isBlank] : []), ...texts].join(', ')
  return { line, domain: given.slice(0, LONGEST_SHOWN).toWellFormed(), problem }
}

function severityOf(text: string | undefined, problems: FieldProblem[]): BlockRules['severity'] {
  const given = (text ?? '').trim().toLowerCase()
  const severity = SEVERITIES.find((one) => one === given)
  if (severity === undefined && given !== '') {
    problems.push({ field: 'severity', text: `must be one of ${SEVERITIES.join(', ')}`, code: 'ERR_INVALID' })
  }
  return severity ?? DEFAULT_RULES.severity
}

function truthOf(field: Column, text: string | undefined, problems: FieldProblem[]): boolean {
  const given = (text ?? '').trim().toLowerCase()
  if (['true', 't', '1', 'yes'].includes(given)) return true
  if (!['', 'false', 'f', '0', 'no'].includes(given)) {
    problems.push({ field, text: 'must be true or false', code: 'ERR_INVALID' })
  }
  return false
}
