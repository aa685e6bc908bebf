import { type SqlBool, sql } from 'kysely'
import type { OrganizationId, UserId } from '../auth/principal.ts'
import type { Micros } from '../clock/clock.ts'
import type { Transaction } from '../storage/database.ts'
import { type Statement, statement } from '../storage/statement.ts'
import '../auth/tables.ts'
import './store.ts'

// A step may last a few milliseconds; a person may have caused a million events.
const BATCH = 500

interface Batch {
  organizationId: OrganizationId
  id: string
  at: Micros
  position: number
}

type Blanking = Statement<Batch, { at: Micros; position: number }>

/**
 * The events of one actor, or about one target, in the order of the log. That an attribute was changed stays; what it
 * was and became does not. Where the event came from is blanked when it came from the person itself, or from somebody
 * unknown who tried to be that person. An anonymization itself only names its call.
 */
function blanking(column: 'actor_id' | 'target_id'): Blanking {
  return statement((_query, p, engine) => {
    const names =
      engine === 'sqlite'
        ? sql`(select json_group_object(key, json('{}')) from json_each(changes))`
        : sql`(select coalesce(json_object_agg(key, '{}'::json)::text, '{}') from json_each(changes::json))`
    const own = column === 'actor_id' ? sql<SqlBool>`1 = 1` : sql<SqlBool>`actor_id is null`
    return sql`
      update audit_events set
        changes = case when changes = '{}' or action = 'user.anonymized' then changes else ${names} end,
        client_address = case when ${own} then null else client_address end,
        user_agent = case when ${own} then null else user_agent end
      where position in (
        select position from audit_events
        where organization_id = ${p('organizationId')} and ${sql.ref(column)} = ${p('id')}
          and (at, position) > (${p('at')}, ${p('position')})
        order by at, position limit ${sql.lit(BATCH)}
      )
      returning at, position`
  })
}

const blankByActor = blanking('actor_id')
const blankByTarget = blanking('target_id')

export async function blankEventsBy(tx: Transaction, organizationId: OrganizationId, id: UserId): Promise<void> {
  await blankAll(tx, blankByActor, organizationId, id)
}

export async function blankEventsAbout(tx: Transaction, organizationId: OrganizationId, id: string): Promise<void> {
  await blankAll(tx, blankByTarget, organizationId, id)
}

async function blankAll(tx: Transaction, batch: Blanking, organizationId: OrganizationId, id: string): Promise<void> {
  let last = { at: Number.MIN_SAFE_INTEGER, position: 0 }
  for (;;) {
    const blanked = await tx.run(batch, { organizationId, id, ...last })
    if (blanked.length < BATCH) return
    for (const one of blanked) {
      if (one.at > last.at || (one.at === last.at && one.position > last.position)) last = one
    }
  }
}

/** Keys and tokens of the person: those that are there, and those that the log remembers the person made. */
export async function keysOf(tx: Transaction, organizationId: OrganizationId, id: UserId): Promise<Set<string>> {
  const ids = new Set<string>()
  for (const table of ['application_keys', 'access_tokens'] as const) {
    for (const row of await tx.query.selectFrom(table).select('id').where('user_id', '=', id).execute()) ids.add(row.id)
  }
  const made = await tx.query
    .selectFrom('audit_events')
    .select('target_id')
    .where('organization_id', '=', organizationId)
    .where('actor_id', '=', id)
    .where('action', 'in', ['key.created', 'token.created'])
    .where('target_type', 'in', ['application_keys', 'personal_access_tokens'])
    .execute()
  for (const { target_id: target } of made) if (target !== null) ids.add(target)
  return ids
}
