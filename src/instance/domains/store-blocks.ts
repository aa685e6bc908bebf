import type { Selectable } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { textsIn } from '../../platform/storage/json-list.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { ListedBlock } from '../public/instance-data.ts'
import type { BlockSeverity, DomainBlocksTable } from '../tables.ts'
import type { DomainBlock } from './domain-block.ts'
import type { PageBounds } from './id-page.ts'
import { withParents } from './normalise-domain.ts'
import { eachByName, pageOf } from './store-page.ts'

export async function listBlocks(reader: Reader, bounds: PageBounds): Promise<DomainBlock[]> {
  const rows = await pageOf<Selectable<DomainBlocksTable>>(reader, 'domain_blocks', bounds)
  return rows.map(toBlock)
}

export async function findBlock(reader: Reader, id: number): Promise<DomainBlock | undefined> {
  const row = await reader.query.selectFrom('domain_blocks').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toBlock(row)
}

/** The most specific one that covers the domain: its own, or the nearest above it. */
export async function findRuleFor(reader: Reader, domain: string): Promise<DomainBlock | undefined> {
  const names = withParents(domain)
  const rows = await reader.query.selectFrom('domain_blocks').selectAll().where('domain', 'in', names).execute()
  const [nearest] = rows.sort((a, b) => b.domain.length - a.domain.length)
  return nearest && toBlock(nearest)
}

export async function insertBlock(tx: Transaction, block: Omit<DomainBlock, 'id'>): Promise<DomainBlock> {
  const { id } = await tx.query
    .insertInto('domain_blocks')
    .values(newRow(block))
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...block, id }
}

type NewRow = ReturnType<typeof newRow>

const insertOne = statement<NewRow>((query, p) =>
  query.insertInto('domain_blocks').values({
    domain: p('domain'),
    severity: p('severity'),
    reject_media: p('reject_media'),
    reject_reports: p('reject_reports'),
    private_comment: p('private_comment'),
    public_comment: p('public_comment'),
    obfuscate: p('obfuscate'),
    created_at: p('created_at'),
    modified_at: p('modified_at'),
  }),
)

export async function insertBlocks(tx: Transaction, blocks: readonly Omit<DomainBlock, 'id'>[]): Promise<void> {
  await tx.changeEach(insertOne, blocks.map(newRow))
}

export async function updateBlock(tx: Transaction, block: DomainBlock, now: number): Promise<void> {
  await tx.query
    .updateTable('domain_blocks')
    .set({ ...columnsOf(block), modified_at: now })
    .where('id', '=', block.id)
    .execute()
}

export async function deleteBlock(tx: Transaction, id: number): Promise<void> {
  await tx.query.deleteFrom('domain_blocks').where('id', '=', id).execute()
}

/** Those of these domains that are blocked themselves. */
export async function blocksOf(reader: Reader, domains: readonly string[]): Promise<DomainBlock[]> {
  const rows = await reader.query
    .selectFrom('domain_blocks')
    .selectAll()
    .where('domain', 'in', textsIn(reader.engine, JSON.stringify(domains)))
    .execute()
  return rows.map(toBlock)
}

/** Of every severity, in the order in which they were made; those behind `after`. */
export async function blocksAfter(reader: Reader, after: number, limit: number): Promise<DomainBlock[]> {
  const rows = await reader.query
    .selectFrom('domain_blocks')
    .selectAll()
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(toBlock)
}

/** What the rules for deliveries are made of. */
export async function readSeverities(reader: Reader): Promise<Map<string, BlockSeverity>> {
  const severities = new Map<string, BlockSeverity>()
  const query = reader.query.selectFrom('domain_blocks').select(['domain', 'severity']).orderBy('domain')
  await eachByName(
    (after, limit) => query.where('domain', '>', after).limit(limit).execute(),
    ({ domain, severity }) => severities.set(domain, severity),
  )
  return severities
}

/** Those that may be shown to the public: silenced domains first, then suspended ones, each by name. */
export async function readListedBlocks(reader: Reader): Promise<ListedBlock[]> {
  const listed: ListedBlock[] = []
  const query = reader.query
    .selectFrom('domain_blocks')
    .select(['domain', 'severity', 'public_comment', 'obfuscate'])
    .orderBy('domain')
  for (const severity of ['silence', 'suspend'] as const) {
    await eachByName(
      (after, limit) => query.where('severity', '=', severity).where('domain', '>', after).limit(limit).execute(),
      ({ domain, public_comment: publicComment, obfuscate }) =>
        listed.push({ domain, severity, publicComment, obfuscate: obfuscate === 1 }),
    )
  }
  return listed
}

function newRow(block: Omit<DomainBlock, 'id'>) {
  return {
    ...columnsOf(block),
    domain: block.domain,
    created_at: block.createdAt,
    modified_at: block.createdAt,
  }
}

function columnsOf(block: Omit<DomainBlock, 'id'>) {
  return {
    severity: block.severity,
    reject_media: flag(block.rejectMedia),
    reject_reports: flag(block.rejectReports),
    private_comment: block.privateComment,
    public_comment: block.publicComment,
    obfuscate: flag(block.obfuscate),
  }
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0
}

function toBlock(row: Selectable<DomainBlocksTable>): DomainBlock {
  return {
    id: row.id,
    domain: row.domain,
    severity: row.severity,
    rejectMedia: row.reject_media === 1,
    rejectReports: row.reject_reports === 1,
    privateComment: row.private_comment,
    publicComment: row.public_comment,
    obfuscate: row.obfuscate === 1,
    createdAt: row.created_at,
  }
}
