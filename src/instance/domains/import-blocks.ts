import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { invalid, invalidField } from '../invalid.ts'
import { type BlockLine, blockToCsv, CSV_HEADER, readBlockLines } from './block-csv.ts'
import type { BlockServiceOptions } from './block-service.ts'
import { type BlockRules, isCovered } from './domain-block.ts'
import { withParents } from './normalise-domain.ts'
import { blocksAfter, insertBlocks } from './store-blocks.ts'

export interface ImportReport {
  dryRun: boolean
  imported: number
  /** Lines whose domain is covered by an equal or stricter block already, here or further up in the file. */
  skipped: number
  failed: number
  /** The first of the bad lines. */
  errors: readonly { line: number; domain: string; error: string }[]
}

export interface ImportWish {
  csv: string
  /** Says what would happen, and changes nothing. */
  dryRun: boolean
  /** Imports the good lines of a file that has bad ones, too. */
  skipBadLines: boolean
}

const MOST_LINES = 100_000
const MOST_ERRORS = 1_000
const PAGE = 1_000
// The log takes 64 thousand characters of changes.
const NAMES_PER_EVENT = 200

type GoodLine = Extract<BlockLine, { rules: BlockRules }>

interface BlockFile {
  lines: GoodLine[]
  failed: number
  errors: { line: number; domain: string; error: string }[]
}

/** All of it in one transaction, or nothing: a file with a bad line changes nothing, unless the caller wants that. */
export async function importBlocks(
  { clock, changes }: BlockServiceOptions,
  principal: Principal,
  wish: ImportWish,
  client?: ClientInfo,
): Promise<ImportReport> {
  const file = readFile(wish.csv)
  if (file.failed > 0 && !wish.dryRun && !wish.skipBadLines) throw badFile(file)
  return changes.write(
    async (tx) => {
      const fresh = await freshRules(tx, file.lines)
      const report = reportOf(file, fresh.size, wish.dryRun)
      if (wish.dryRun || fresh.size === 0) return report
      const now = clock.now()
      await insertBlocks(
        tx,
        [...fresh].map(([domain, rules]) => ({ domain, ...rules, createdAt: now })),
      )
      await audit(tx, principal, fresh, client)
      changes.announce(tx)
      return report
    },
    { alone: true },
  )
}

/** The whole list, piece by piece. */
export async function* exportBlocks({ db }: Pick<BlockServiceOptions, 'db'>): AsyncGenerator<string> {
  yield CSV_HEADER
  for (let after = 0; ; ) {
    const blocks = await blocksAfter(db, after, PAGE)
    if (blocks.length > 0) yield blocks.map(blockToCsv).join('')
    if (blocks.length < PAGE) return
    after = blocks.at(-1)?.id as number
  }
}

function readFile(csv: string): BlockFile {
  const file: BlockFile = { lines: [], failed: 0, errors: [] }
  for (const line of readBlockLines(csv)) {
    if (file.lines.length + file.failed >= MOST_LINES) {
      throw invalidField('', `The file has more than ${MOST_LINES} lines: divide it`, 'ERR_TOO_LONG')
    }
    if ('rules' in line) file.lines.push(line)
    else {
      file.failed += 1
      if (file.errors.length < MOST_ERRORS)
        file.errors.push({ line: line.line, domain: line.domain, error: line.problem })
    }
  }
  return file
}

function reportOf({ lines, failed, errors }: BlockFile, imported: number, dryRun: boolean): ImportReport {
  return { dryRun, imported, skipped: lines.length - imported, failed, errors }
}

/** Of the lines those that add something, each domain once. */
async function freshRules(tx: Transaction, lines: readonly GoodLine[]): Promise<Map<string, BlockRules>> {
  const known = await allRules(tx)
  const fresh = new Map<string, BlockRules>()
  for (const line of lines) {
    if (isCoveredBy(known, line)) continue
    known.set(line.domain, line.rules)
    fresh.set(line.domain, line.rules)
  }
  return fresh
}

type Strictness = Parameters<typeof isCovered>[1]

function isCoveredBy(known: ReadonlyMap<string, Strictness>, { domain, rules }: GoodLine): boolean {
  // What an administrator wrote about a domain is not overruled by a list.
  if (known.has(domain)) return true
  const nearest = withParents(domain).find((name) => known.has(name))
  return nearest !== undefined && isCovered(rules, known.get(nearest) as Strictness)
}

async function allRules(tx: Transaction): Promise<Map<string, Strictness>> {
  const rules = new Map<string, Strictness>()
  for (let after = 0; ; ) {
    const blocks = await blocksAfter(tx, after, PAGE)
    for (const { domain, severity, rejectMedia, rejectReports } of blocks) {
      rules.set(domain, { severity, rejectMedia, rejectReports })
    }
    if (blocks.length < PAGE) return rules
    after = blocks.at(-1)?.id as number
  }
}

async function audit(
  tx: Transaction,
  principal: Principal,
  fresh: ReadonlyMap<string, BlockRules>,
  client?: ClientInfo,
): Promise<void> {
  const names = [...fresh].map(([domain, { severity }]) => `${domain}: ${severity}`)
  for (let at = 0; at < names.length; at += NAMES_PER_EVENT) {
    const changes = { domains: { new: names.slice(at, at + NAMES_PER_EVENT) } }
    const target = { type: 'domain_blocks', id: 'import' }
    await auditChange(tx, principal, { action: 'domain_block.imported', target, changes }, client)
  }
}

function badFile(file: BlockFile) {
  const problems = file.errors.map(({ line, error }) => ({ field: `line ${line}`, text: error, code: 'ERR_INVALID' }))
  const { skipped: _, ...report } = importToJson(reportOf(file, 0, false))
  return invalid(problems, report)
}

export function importToJson({ dryRun, imported, skipped, failed, errors }: ImportReport) {
  return { dry_run: dryRun, imported, skipped, failed, errors: errors.map((error) => ({ ...error })) }
}
