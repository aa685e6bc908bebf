import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { OrganizationId } from '../auth/principal.ts'
import type { Micros } from '../clock/clock.ts'
import type { Database, Reader } from '../storage/database.ts'
import type { Engine } from '../storage/engine.ts'
import { unindexed } from '../storage/look-up.ts'
import { statement } from '../storage/statement.ts'

export interface AuditEventsTable {
  /** Made by the database; orders events of the same microsecond. */
  position: number
  id: string
  organization_id: OrganizationId
  at: Micros
  action: string
  outcome: 'success' | 'failure'
  actor_kind: 'user' | 'service_account' | 'system'
  actor_id: string | null
  auth_method: string | null
  credential_id: string | null
  target_type: string | null
  target_id: string | null
  client_address: string | null
  user_agent: string | null
  request_id: string | null
  /** JSON: attribute -> {old, new}. */
  changes: string
}

declare module '../storage/tables.ts' {
  interface Tables {
    audit_events: AuditEventsTable
  }
}

export type AuditRow = Selectable<AuditEventsTable>
export type NewAuditRow = Omit<AuditRow, 'position'>

const COLUMNS = [
  'id',
  'organization_id',
  'at',
  'action',
  'outcome',
  'actor_kind',
  'actor_id',
  'auth_method',
  'credential_id',
  'target_type',
  'target_id',
  'client_address',
  'user_agent',
  'request_id',
  'changes',
] as const

export const insertAuditEvent = statement<NewAuditRow>((query, p) =>
  query
    .insertInto('audit_events')
    .columns([...COLUMNS])
    .values(Object.fromEntries(COLUMNS.map((column) => [column, p(column)])) as never),
)

export interface AuditFilter {
  action?: string
  actorId?: string
  targetId?: string
  /** From this time on, inclusive. */
  from?: Micros
  /** Up to this time, inclusive. */
  to?: Micros
}

/** Place in the list: the event with these values and all older ones come after it. */
export interface AuditPosition {
  at: Micros
  position: number
}

/** Newest first. Each filter has an index that ends in (at, position): a page costs the same at any depth. */
export async function selectAuditEvents(
  reader: Reader,
  organizationId: OrganizationId,
  filter: AuditFilter,
  before: AuditPosition | undefined,
  limit: number,
): Promise<AuditRow[]> {
  const rows: AuditRow[] = []
  const isSifted = [filter.targetId, filter.actorId, filter.action].filter((text) => text !== undefined).length > 1
  for await (const part of auditParts(reader, filter, isSifted, before)) {
    const query = reader.query
      .selectFrom('audit_events')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('at', 'desc')
      .orderBy('position', 'desc')
      .limit(limit - rows.length)
    rows.push(...(await query.where(matching(reader.engine, filter, part)).execute()))
    if (rows.length === limit) break
  }
  return rows
}

/** Events of a list from `before`, which does not belong to it, to `last`, which does. */
export interface AuditPart {
  before?: AuditPosition
  last?: AuditPosition
}

// Some five milliseconds: whoever does the most may have done a million things.
const LOOKED_AT = 5_000

/**
 * What one filter finds, all of which is looked at when it is sifted for something else. On SQLite everybody else waits
 * meanwhile, so there it comes in parts, and others have a turn between two of them.
 */
export async function* auditParts(
  reader: Reader,
  filter: AuditFilter,
  isSifted: boolean,
  before?: AuditPosition,
): AsyncGenerator<AuditPart> {
  if (reader.engine === 'postgres' || !isSifted) {
    yield { before }
    return
  }
  for (let from = before; ; ) {
    const last = await reader.query
      .selectFrom('audit_events')
      .select(['at', 'position'])
      .where(matching(reader.engine, narrowest(filter), { before: from }))
      .orderBy('at', 'desc')
      .orderBy('position', 'desc')
      .limit(1)
      .offset(LOOKED_AT - 1)
      .executeTakeFirst()
    yield { before: from, last }
    if (last === undefined) return
    from = last
    await nextTurn()
  }
}

/** What is about something is less than what somebody did, and that is less than what was done in one way. */
const COLUMNS_BY_SIZE = [
  ['target_id', 'targetId'],
  ['actor_id', 'actorId'],
  ['action', 'action'],
] as const

function narrowest(filter: AuditFilter): AuditFilter {
  const [, name] = COLUMNS_BY_SIZE.find(([, key]) => filter[key] !== undefined) ?? []
  return { from: filter.from, to: filter.to, ...(name !== undefined && { [name]: filter[name] }) }
}

export function matching(engine: Engine, filter: AuditFilter, { before, last }: AuditPart): RawBuilder<boolean> {
  const place = sql`(at, position)`
  const conditions: RawBuilder<unknown>[] = []
  for (const [column, name] of COLUMNS_BY_SIZE) {
    if (filter[name] === undefined) continue
    // Found by the first of them: SQLite takes any index, and a part of one list may be all of another.
    const isFirst = conditions.length === 0
    conditions.push(
      sql`${isFirst || engine === 'postgres' ? sql.ref(column) : unindexed(engine, column)} = ${filter[name]}`,
    )
  }
  if (filter.from !== undefined) conditions.push(sql`at >= ${filter.from}`)
  if (filter.to !== undefined) conditions.push(sql`at <= ${filter.to}`)
  if (before !== undefined) conditions.push(sql`${place} < (${before.at}, ${before.position})`)
  if (last !== undefined) conditions.push(sql`${place} >= (${last.at}, ${last.position})`)
  return conditions.length === 0 ? sql`1 = 1` : sql`${sql.join(conditions, sql` and `)}`
}

const deleteOldest = statement<{ organizationId: OrganizationId; before: Micros; limit: number }, { position: number }>(
  (query, p) =>
    query
      .deleteFrom('audit_events')
      .where('position', 'in', (inner) =>
        inner
          .selectFrom('audit_events')
          .select('position')
          .where('organization_id', '=', p('organizationId'))
          .where('at', '<', p('before'))
          .orderBy('at')
          .orderBy('position')
          .limit(p('limit')),
      )
      .returning('position'),
)

/** One bounded step of the retention. Answers how many events it removed. */
export async function deleteAuditEvents(
  db: Database,
  organizationId: OrganizationId,
  before: Micros,
  limit: number,
): Promise<number> {
  const removed = await db.write((tx) => tx.run(deleteOldest, { organizationId, before, limit }), {
    isolation: 'read committed',
  })
  return removed.length
}

export async function organizationsWithEvents(reader: Reader): Promise<OrganizationId[]> {
  const rows = await reader.query.selectFrom('organizations').select('id').execute()
  return rows.map((row) => row.id)
}
