import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OrganizationId } from '../auth/principal.ts'
import type { Micros } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import type { Reader } from '../storage/database.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { AuditActor } from './record.ts'
import { type AuditFilter, type AuditPosition, type AuditRow, selectAuditEvents } from './store.ts'

export type { AuditFilter } from './store.ts'

/** An event as it was recorded. */
export interface RecordedEvent {
  id: string
  at: Micros
  action: string
  outcome: 'success' | 'failure'
  actor: AuditActor
  target: { type: string; id: string } | null
  client: { address: string | null; userAgent: string | null; requestId: string | null }
  changes: Record<string, unknown>
}

export interface AuditPage {
  events: RecordedEvent[]
  /** Of the next page; null on the last. */
  cursor: string | null
}

const DEFAULT_LIMIT = 10
const LARGEST_LIMIT = 1_000
const EXPORT_PAGE = 500

/** Newest first. */
export async function listAudit(
  reader: Reader,
  organizationId: OrganizationId,
  filter: AuditFilter = {},
  { limit = DEFAULT_LIMIT, cursor }: { limit?: number; cursor?: string | null } = {},
): Promise<AuditPage> {
  if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_LIMIT) {
    throw new AppError('invalid_argument', `A page of the audit log has 1 to ${LARGEST_LIMIT} events`)
  }
  const before = cursor == null ? undefined : decodeCursor(cursor)
  // One more than asked for tells whether there is another page.
  const rows = await selectAuditEvents(reader, organizationId, storable(filter), before, limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { events: page.map(toEvent), cursor: rows.length > limit && last ? encodeCursor(last) : null }
}

/**
 * Every event that matches, newest first, for an export. One page is in memory and no transaction stays open in
 * between, so a slow reader holds up nobody; events recorded after the first page are not part of it.
 */
export async function* streamAudit(
  reader: Reader,
  organizationId: OrganizationId,
  filter: AuditFilter = {},
): AsyncGenerator<RecordedEvent> {
  for (let before: AuditPosition | undefined; ; ) {
    const rows = await selectAuditEvents(reader, organizationId, storable(filter), before, EXPORT_PAGE)
    for (const row of rows) yield toEvent(row)
    before = rows.at(-1)
    if (rows.length < EXPORT_PAGE) return
    // A caller who takes everything at once would leave nobody a turn on SQLite.
    await nextTurn()
  }
}

// What cannot be in the log matches nothing; PostgreSQL would fail on a NUL instead.
function storable(filter: AuditFilter): AuditFilter {
  const clean = (text: string | undefined) => text?.replaceAll('\0', '\uFFFD').toWellFormed()
  return { ...filter, action: clean(filter.action), actorId: clean(filter.actorId), targetId: clean(filter.targetId) }
}

function toEvent(row: AuditRow): RecordedEvent {
  const { id, at, action, outcome, target_type: type, target_id: targetId } = row
  return {
    id,
    at,
    action,
    outcome,
    actor: { kind: row.actor_kind, id: row.actor_id, method: row.auth_method, credentialId: row.credential_id },
    target: type === null || targetId === null ? null : { type, id: targetId },
    client: { address: row.client_address, userAgent: row.user_agent, requestId: row.request_id },
    changes: JSON.parse(row.changes),
  }
}
