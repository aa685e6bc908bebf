import { sql } from 'kysely'
import type { Micros } from '../clock/clock.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { statement } from '../storage/statement.ts'

export interface IdempotencyKeysTable {
  /** Whose key it is. */
  subject: string
  /** Method and path; of several paths of one operation, the documented one. */
  route: string
  key: string
  fingerprint: string
  /** Null while the first request runs. */
  status: number | null
  /** JSON. */
  headers: string | null
  /** Null with a status: it was too large to be kept, is not yet, or must no longer be. Without a status: what the request has done so far. */
  body: Uint8Array | null
  /** When the request began; also tells one that took an abandoned key over from the one that left it. */
  created_at: Micros
}

declare module '../storage/tables.ts' {
  interface Tables {
    idempotency_keys: IdempotencyKeysTable
    /** `user <id>`, `email <hash>` or `resource <external id>`. */
    idempotency_mentions: { mention: string; subject: string; route: string; key: string }
  }
}

export type KeyPlace = Pick<IdempotencyKeysTable, 'subject' | 'route' | 'key'>

type Claim = KeyPlace & Pick<IdempotencyKeysTable, 'fingerprint' | 'created_at'>

/** One statement, so that of two who come at the same moment one gets the row. */
const insertOrTakeOver = statement<Claim & { expired: Micros; abandoned: Micros }, Pick<IdempotencyKeysTable, 'body'>>(
  (query, p) =>
    query
      .insertInto('idempotency_keys')
      .values({
        subject: p('subject'),
        route: p('route'),
        key: p('key'),
        fingerprint: p('fingerprint'),
        status: null,
        headers: null,
        body: null,
        created_at: p('created_at'),
      })
      .onConflict((conflict) =>
        conflict
          .columns(['subject', 'route', 'key'])
          .doUpdateSet({
            fingerprint: sql<string>`excluded.fingerprint`,
            status: null,
            headers: null,
            // Of the same request, whose process died in the middle of it.
            body: sql<Uint8Array | null>`case
            when idempotency_keys.status is null and idempotency_keys.fingerprint = excluded.fingerprint
              and idempotency_keys.created_at >= ${p('expired')}
            then idempotency_keys.body end`,
            created_at: sql<number>`excluded.created_at`,
          })
          .where(
            sql<boolean>`idempotency_keys.created_at < ${p('expired')}
            or (idempotency_keys.status is null and idempotency_keys.created_at < ${p('abandoned')})`,
          ),
      )
      .returning('body'),
)

/** Undefined when somebody else holds the key, or its answer is kept; else what was done under it by the one who left it. */
export async function claimKey(
  db: Database,
  claim: Claim,
  limits: { expired: Micros; abandoned: Micros },
): Promise<{ done: Uint8Array | null } | undefined> {
  return db.write(
    async (tx) => {
      const [claimed] = await tx.run(insertOrTakeOver, { ...claim, ...limits })
      if (claimed === undefined) return undefined
      // A key that was taken over may have been answered once.
      if (claimed.body === null) await at(tx.query.deleteFrom('idempotency_mentions'), claim).execute()
      return { done: claimed.body }
    },
    { isolation: 'read committed' },
  )
}

export async function findKey(reader: Reader, place: KeyPlace): Promise<IdempotencyKeysTable | undefined> {
  return at(reader.query.selectFrom('idempotency_keys').selectAll(), place).executeTakeFirst()
}

export interface KeptAnswer {
  status: number
  headers: string
  body: Uint8Array | null
  mentions: readonly string[]
}

/** Keeps the answer, unless the claim was taken over or its owner was anonymized meanwhile: false then. */
export async function keepAnswer(
  tx: Transaction,
  claim: KeyPlace & { created_at: Micros },
  { status, headers, body, mentions }: KeptAnswer,
): Promise<boolean> {
  const updated = await at(tx.query.updateTable('idempotency_keys').set({ status, headers, body }), claim)
    .where('created_at', '=', claim.created_at)
    .returning('key')
    .execute()
  if (updated.length > 0) await addMentions(tx, claim, mentions)
  return updated.length > 0
}

async function addMentions(
  tx: Transaction,
  { subject, route, key }: KeyPlace,
  mentions: readonly string[],
): Promise<void> {
  if (mentions.length === 0) return
  await tx.query
    .insertInto('idempotency_mentions')
    .values(mentions.map((mention) => ({ mention, subject, route, key })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Makes the claim as young as `now`, with what is done by then, unless it was taken over or answered: false then. */
export async function renewKey(
  tx: Transaction,
  claim: KeyPlace & { created_at: Micros },
  now: Micros,
  { body, mentions }: Pick<KeptAnswer, 'body' | 'mentions'>,
): Promise<boolean> {
  const renewed = await at(tx.query.updateTable('idempotency_keys').set({ created_at: now, body }), claim)
    .where('created_at', '=', claim.created_at)
    .where('status', 'is', null)
    .returning('key')
    .execute()
  if (renewed.length > 0) await addMentions(tx, claim, mentions)
  return renewed.length > 0
}

/**
 * Unless there is an answer: the change may be done although whoever made it was not told so. Where a part of it is done, the key is
 * kept with that and made so old that it is free; those before `abandoned` are.
 */
export async function releaseKey(
  tx: Transaction,
  claim: KeyPlace & { created_at: Micros },
  abandoned: Micros,
): Promise<void> {
  await at(tx.query.deleteFrom('idempotency_keys'), claim)
    .where('created_at', '=', claim.created_at)
    .where('status', 'is', null)
    .where('body', 'is', null)
    .execute()
  await at(tx.query.updateTable('idempotency_keys').set({ created_at: abandoned - 1 }), claim)
    .where('created_at', '=', claim.created_at)
    .where('status', 'is', null)
    .execute()
}

/** Makes all that have no answer so old that they are free; those before `abandoned` are. */
export async function abandonKeys(tx: Transaction, abandoned: Micros): Promise<void> {
  await tx.query
    .updateTable('idempotency_keys')
    .set({ created_at: abandoned - 1 })
    .where('created_at', '>=', abandoned)
    .where('status', 'is', null)
    .execute()
}

export async function deleteKeysOf(tx: Transaction, subject: string, mentions: readonly string[]): Promise<void> {
  if (tx.engine === 'sqlite') await deleteOneByOne(tx, subject)
  else await tx.query.deleteFrom('idempotency_keys').where('subject', '=', subject).execute()
  for (const place of await mentioning(tx, mentions)) await tx.send(deleteKey, place)
}

// Made ready once: of very many, each would take longer to be written down than to be done.
const deleteKey = statement<KeyPlace>((query, p) =>
  query
    .deleteFrom('idempotency_keys')
    .where('subject', '=', p('subject'))
    .where('route', '=', p('route'))
    .where('key', '=', p('key')),
)

const AT_ONCE = 500

/** A person may have very many, and nobody has a turn while a statement runs. */
async function deleteOneByOne(tx: Transaction, subject: string): Promise<void> {
  for (let places = await ownKeys(tx, subject); places.length > 0; places = await ownKeys(tx, subject)) {
    for (const place of places) await tx.send(deleteKey, place)
  }
}

function ownKeys(reader: Reader, subject: string): Promise<KeyPlace[]> {
  return reader.query
    .selectFrom('idempotency_keys')
    .select(['subject', 'route', 'key'])
    .where('subject', '=', subject)
    .limit(AT_ONCE)
    .execute()
}

/** Whatever has the one mention has the other, too. */
export async function mentionAlso(tx: Transaction, mention: string, also: string): Promise<void> {
  await tx.query
    .insertInto('idempotency_mentions')
    .columns(['mention', 'subject', 'route', 'key'])
    .expression((eb) =>
      eb
        .selectFrom('idempotency_mentions')
        .select([eb.val(also).as('mention'), 'subject', 'route', 'key'])
        .where('mention', '=', mention),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** The keys stay, so that a late repeat does not do again what was taken back. */
export async function deleteBodiesWith(tx: Transaction, mentions: readonly string[]): Promise<void> {
  for (const place of await mentioning(tx, mentions)) {
    await at(tx.query.updateTable('idempotency_keys').set({ body: null }), place)
      .where('status', 'is not', null)
      .execute()
  }
}

async function mentioning(reader: Reader, mentions: readonly string[]): Promise<KeyPlace[]> {
  if (mentions.length === 0) return []
  return reader.query
    .selectFrom('idempotency_mentions')
    .select(['subject', 'route', 'key'])
    .where('mention', 'in', [...mentions])
    .execute()
}

// Fewer where answers are long, which their number of bytes tells without a look at them: what those mention goes with them, and on
// SQLite nobody else writes meanwhile.
const BATCH_BYTES = 256 * 1024

/** One batch; answers how many were removed: 0 when none is left. */
export async function deleteOldKeys(db: Database, before: Micros, limit: number): Promise<number> {
  return db.write(
    async (tx) => {
      const old = await tx.query
        .selectFrom('idempotency_keys')
        .select(['subject', 'route', 'key'])
        .select(sql<number | null>`octet_length(body)`.as('bytes'))
        .where('created_at', '<', before)
        .orderBy('created_at')
        .limit(limit)
        .execute()
      let [removed, bytes] = [0, 0]
      for (const place of old) {
        if (bytes > BATCH_BYTES) break
        await at(tx.query.deleteFrom('idempotency_keys'), place).where('created_at', '<', before).execute()
        bytes += place.bytes ?? 0
        removed++
      }
      return removed
    },
    { alone: true, isolation: 'read committed' },
  )
}

interface Narrowing<Query> {
  where(column: 'subject' | 'route' | 'key', operator: '=', value: string): Query
}

function at<Query>(query: Query, { subject, route, key }: KeyPlace): Query {
  const narrow = (one: Query, column: 'subject' | 'route' | 'key', value: string) =>
    (one as Narrowing<Query>).where(column, '=', value)
  return narrow(narrow(narrow(query, 'subject', subject), 'route', route), 'key', key)
}
