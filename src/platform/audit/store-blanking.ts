import { sql } from 'kysely'
import '../auth/tables.ts'
import type { OrganizationId, UserId } from '../auth/principal.ts'
import type { Transaction } from '../storage/database.ts'
import { foldedText } from '../text/folded-text.ts'
import { type AuditPosition, type AuditRow, auditParts, matching } from './store.ts'

// A step may last a few milliseconds; a person may have caused a million events.
const BATCH = 500

type Column = 'actor_id' | 'target_id'

/** That an attribute was changed stays; what it was and became does not, nor where the person was. */
export async function blankEventsBy(tx: Transaction, organizationId: OrganizationId, id: UserId): Promise<void> {
  await blankAll(tx, organizationId, 'actor_id', id)
}

/**
 * The same, but where an event came from is blanked only when nobody knows who it was: somebody who tried to be that
 * person. Otherwise it says where somebody else was.
 */
export async function blankEventsAbout(tx: Transaction, organizationId: OrganizationId, id: string): Promise<void> {
  await blankAll(tx, organizationId, 'target_id', id)
}

async function blankAll(tx: Transaction, organizationId: OrganizationId, column: Column, id: string): Promise<void> {
  for (let after: AuditPosition | undefined; ; ) {
    const rows = await nextEvents(tx, organizationId, column, id, after)
    for (const [changes, positions] of byBlankedChanges(rows)) await blank(tx, column, positions, changes)
    after = rows.at(-1)
    if (rows.length < BATCH) return
  }
}

/** Events of one action in whose changes one of the texts stands, in whatever case and form, whoever they are by and about. */
export async function blankMentions(
  tx: Transaction,
  { organizationId, action, texts }: { organizationId: OrganizationId; action: string; texts: readonly string[] },
): Promise<void> {
  const wanted = texts.map(foldedText)
  for (let after: AuditPosition | undefined; ; ) {
    const rows = await nextEvents(tx, organizationId, 'action', action, after)
    const found = rows.filter(({ changes }) => {
      const folded = foldedText(changes)
      return wanted.some((text) => folded.includes(text))
    })
    for (const [changes, positions] of byBlankedChanges(found)) {
      await tx.query.updateTable('audit_events').set({ changes }).where('position', 'in', positions).execute()
    }
    after = rows.at(-1)
    if (rows.length < BATCH) return
  }
}

type Event = Pick<AuditRow, 'at' | 'position' | 'changes' | 'action'>

async function nextEvents(
  tx: Transaction,
  organizationId: OrganizationId,
  column: Column | 'action',
  id: string,
  after: AuditPosition | undefined,
): Promise<Event[]> {
  let query = tx.query
    .selectFrom('audit_events')
    .select(['at', 'position', 'changes', 'action'])
    .where('organization_id', '=', organizationId)
    .where(column, '=', id)
    .orderBy('at')
    .orderBy('position')
    .limit(BATCH)
  if (after !== undefined) query = query.where(sql<boolean>`(at, position) > (${after.at}, ${after.position})`)
  return query.execute()
}

/** Most events look alike once they are blanked, and are written together. */
function byBlankedChanges(events: readonly Event[]): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const { position, changes, action } of events) {
    // An anonymization only names its call.
    const text = action === 'user.anonymized' ? changes : withoutValues(changes)
    const group = groups.get(text)
    if (group === undefined) groups.set(text, [position])
    else group.push(position)
  }
  return groups
}

function withoutValues(changes: string): string {
  const names = Object.keys(JSON.parse(changes) as object)
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, {}])))
}

async function blank(tx: Transaction, column: Column, positions: readonly number[], changes: string): Promise<void> {
  const events = tx.query.updateTable('audit_events').where('position', 'in', [...positions])
  await events.set({ changes }).execute()
  const client = events.set({ client_address: null, user_agent: null })
  await (column === 'actor_id' ? client : client.where('actor_id', 'is', null)).execute()
}

/** Keys and tokens of the person: those that are there, and those that the log remembers, made by the person or for it. */
export async function keysOf(tx: Transaction, organizationId: OrganizationId, id: UserId): Promise<Set<string>> {
  const ids = new Set<string>()
  for (const table of ['application_keys', 'access_tokens'] as const) {
    for (const row of await tx.query.selectFrom(table).select('id').where('user_id', '=', id).execute()) ids.add(row.id)
  }
  for (const action of ['key.created', 'token.created']) {
    // Of everybody's: they do not know for whom they were made.
    for await (const part of auditParts(tx, { action }, true)) {
      const made = await tx.query
        .selectFrom('audit_events')
        .select('target_id')
        .where('organization_id', '=', organizationId)
        .where(matching(tx.engine, { action }, part))
        .where('target_type', 'in', ['application_keys', 'personal_access_tokens'])
        .where(({ eb, or }) => or([eb('actor_id', '=', id), eb('changes', 'like', `%"owner":{"new":"${id}"}%`)]))
        .execute()
      for (const { target_id: target } of made) if (target !== null) ids.add(target)
    }
  }
  return ids
}
