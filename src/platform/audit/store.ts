import { type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { OrganizationId } from '../auth/principal.ts'
import type { Micros } from '../clock/clock.ts'
import type { Database, Reader } from '../storage/database.ts'
import { statement } from '../storage/statement.ts'
import type { Tables } from '../storage/tables.ts'

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
  let query: SelectQueryBuilder<Tables, 'audit_events', AuditRow> = reader.query
    .selectFrom('audit_events')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('at', 'desc')
    .orderBy('position', 'desc')
    .limit(limit)
  if (filter.action !== undefined) query = query.where('action', '=', filter.action)
  if (filter.actorId !== undefined) query = query.where('actor_id', '=', filter.actorId)
  if (filter.targetId !== undefined) query = query.where('target_id', '=', filter.targetId)
  if (filter.from !== undefined) query = query.where('at', '>=', filter.from)
  if (filter.to !== undefined) query = query.where('at', '<=', filter.to)
  if (before !== undefined) query = query.where(sql<boolean>`(at, position) < (${before.at}, ${before.position})`)
  return query.execute()
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
