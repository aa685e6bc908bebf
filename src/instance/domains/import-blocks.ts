import { setImmediate as nextTurn } from 'node:timers/promises'
import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { invalid, invalidField } from '../invalid.ts'
import { type BlockLine, blockToCsv, CSV_HEADER, readBlockLines } from './block-csv.ts'
import type { BlockServiceOptions } from './block-service.ts'
import { PAUSE } from './csv.ts'
import { type BlockRules, isCovered } from './domain-block.ts'
import { withParents } from './normalise-domain.ts'
import { blocksAfter, blocksOf, insertBlocks } from './store-blocks.ts'

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
// A long file is imported in steps, between which others have their turn: by the names that are looked up, of which a line may have a hundred.
const NAMES_PER_STEP = 2_000
// The log takes 64 thousand characters of changes.
const NAMES_PER_EVENT = 200

type GoodLine = Extract<BlockLine, { rules: BlockRules }>

interface BlockFile {
  lines: GoodLine[]
  failed: number
  errors: { line: number; domain: string; error: string }[]
}

/** In one transaction. A file with a bad line changes nothing, unless the caller wants its good ones. */
export async function importBlocks(
  { clock, changes }: BlockServiceOptions,
  principal: Principal,
  wish: ImportWish,
  client?: ClientInfo,
): Promise<ImportReport> {
  const file = await readFile(wish.csv)
  if (file.failed > 0 && !wish.dryRun && !wish.skipBadLines) throw badFile(file)
  return changes.write(
    async (tx) => {
      const fresh = new Map<string, BlockRules>()
      const createdAt = clock.now()
      for (const step of stepsOf(file.lines)) {
        const added = await addFresh(tx, fresh, step)
        if (wish.dryRun) continue
        const blocks = added.map(({ domain, rules }) => ({ domain, ...rules, createdAt }))
        await insertBlocks(tx, blocks)
      }
      if (!wish.dryRun && fresh.size > 0) {
        await audit(tx, principal, fresh, client)
        changes.announce(tx)
      }
      return reportOf(file, fresh.size, wish.dryRun)
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
    await nextTurn()
  }
}

async function readFile(csv: string): Promise<BlockFile> {
  const file: BlockFile = { lines: [], failed: 0, errors: [] }
  for (const line of readBlockLines(csv)) {
    if (line === PAUSE) {
      await nextTurn()
      continue
    }
    const read = file.lines.length + file.failed
    if (read >= MOST_LINES) {
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

interface Step {
  lines: GoodLine[]
  /** The domains of the lines, and those above them; often the same. */
  names: string[]
}

/** In the order of the file, each with few names to look up. */
export function* stepsOf(lines: readonly GoodLine[]): Generator<Step> {
  let step: Step = { lines: [], names: [] }
  for (const line of lines) {
    step.lines.push(line)
    step.names.push(...withParents(line.domain))
    if (step.names.length < NAMES_PER_STEP) continue
    yield step
    step = { lines: [], names: [] }
  }
  if (step.lines.length > 0) yield step
}

/** Of the lines those that add something to what is blocked already and to those before them. */
async function addFresh(tx: Transaction, fresh: Map<string, BlockRules>, { lines, names }: Step): Promise<GoodLine[]> {
  const blocks = await blocksOf(tx, [...new Set(names)])
  const blocked = new Map(blocks.map((block) => [block.domain, block]))
  return lines.filter(({ domain, rules }) => {
    const existing = (name: string) => fresh.get(name) ?? blocked.get(name)
    // What an administrator wrote about a domain is not overruled by a list.
    if (existing(domain) !== undefined) return false
    const nearest = withParents(domain).find((name) => existing(name) !== undefined)
    if (nearest !== undefined && isCovered(rules, existing(nearest) as Strictness)) return false
    fresh.set(domain, rules)
    return true
  })
}

type Strictness = Parameters<typeof isCovered>[1]

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
