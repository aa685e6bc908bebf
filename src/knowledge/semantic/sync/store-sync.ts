/** How far the vectors of a project are, and whose turn it is to go on with them. */
import { type RawBuilder, sql } from 'kysely'
import type { Micros } from '../../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../../platform/storage/database.ts'
import { statement } from '../../../platform/storage/statement.ts'
import '../../tables.ts'
import '../tables.ts'

/** Vectors of one model in one project. */
export interface SyncKey {
  projectId: number
  modelId: number
}

export interface SyncState {
  synced_seq: number
  forced_seq: number
  completed_at: Micros | null
  failures: number
  due_at: Micros
}

/**
 * Projects with notes that the model has not seen, with notes to be tried again, without an end to the first time, or with rows of a
 * model before it. One that is filled beside it may be that of another process, and is left alone. Those whose texts made the provider
 * fail come last: a round ends with the next failure, and others must not wait behind them for ever.
 */
export async function waitingProjects(reader: Reader, modelId: number, now: Micros): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select p.id from projects p left join project_embeddings e on e.project_id = p.id and e.model_id = ${modelId}
    where p.deleted_at is null and coalesce(e.due_at, 0) <= ${now} and (
      exists (select 1 from note_changes c where c.project_id = p.id and c.seq > coalesce(e.synced_seq, 0))
      or (e.project_id is not null and e.completed_at is null)
      or exists (select 1 from project_embeddings o
        where o.project_id = p.id and o.model_id <> ${modelId} and o.completed_at < e.completed_at)
      or exists (select 1 from embedding_failures f
        where f.project_id = p.id and f.model_id = ${modelId} and f.due_at <= ${now})
    ) order by coalesce(e.failures, 0), p.id`.execute(reader.query)
  return rows.map(({ id }) => id)
}

/** When the next of those is due that wait for their time; null when none does. */
export async function nextDue(reader: Reader, modelId: number, now: Micros): Promise<Micros | null> {
  const { rows } = await sql<{ at: Micros | null }>`
    select min(at) as at from (
      select min(due_at) as at from project_embeddings where model_id = ${modelId} and due_at > ${now}
      union all
      select min(due_at) as at from embedding_failures where model_id = ${modelId} and due_at > ${now}
    ) as times`.execute(reader.query)
  return rows[0]?.at ?? null
}

export async function syncState(reader: Reader, { projectId, modelId }: SyncKey): Promise<SyncState | undefined> {
  return reader.query
    .selectFrom('project_embeddings')
    .select(['synced_seq', 'forced_seq', 'completed_at', 'failures', 'due_at'])
    .where('project_id', '=', projectId)
    .where('model_id', '=', modelId)
    .executeTakeFirst()
}

/** Whether the project is there and was not deleted. */
export async function isProjectThere(reader: Reader, projectId: number): Promise<boolean> {
  const row = await reader.query
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** Takes the project over for a while, unless another process has it, or it was deleted since somebody saw it. */
export async function claimProject(
  tx: Transaction,
  { projectId, modelId }: SyncKey,
  lease: { owner: string; now: Micros; until: Micros },
): Promise<SyncState | undefined> {
  if (!(await isProjectThere(tx, projectId))) return undefined
  const values = { project_id: projectId, model_id: modelId, lease_owner: lease.owner, leased_until: lease.until }
  return tx.query
    .insertInto('project_embeddings')
    .values({ ...values, completed_at: null, last_error: null })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'model_id'])
        .doUpdateSet({ lease_owner: lease.owner, leased_until: lease.until })
        .where((eb) =>
          eb.or([
            eb('project_embeddings.lease_owner', 'is', null),
            eb('project_embeddings.lease_owner', '=', lease.owner),
            eb('project_embeddings.leased_until', '<', lease.now),
          ]),
        ),
    )
    .returning(['synced_seq', 'forced_seq', 'completed_at', 'failures', 'due_at'])
    .executeTakeFirst()
}

/** False when another process has it, or it is gone. */
export async function renewProject(
  tx: Transaction,
  { projectId, modelId }: SyncKey,
  owner: string,
  until: Micros,
): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('project_embeddings')
    .set({ leased_until: until })
    .where('project_id', '=', projectId)
    .where('model_id', '=', modelId)
    .where('lease_owner', '=', owner)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function releaseProject(tx: Transaction, { projectId, modelId }: SyncKey, owner: string): Promise<void> {
  await tx.query
    .updateTable('project_embeddings')
    .set({ lease_owner: null, leased_until: 0 })
    .where('project_id', '=', projectId)
    .where('model_id', '=', modelId)
    .where('lease_owner', '=', owner)
    .execute()
}

const advance = statement<
  { projectId: number; modelId: number; owner: string; from: number; to: number; ended: number; until: Micros },
  { change_seq: number }
>(
  (_query, p) => sql`
    update project_embeddings set synced_seq = ${p('to')}, leased_until = ${p('until')}, change_seq = change_seq + 1,
      forced_seq = case when forced_seq = ${p('ended')} then 0 else forced_seq end,
      failures = 0, last_error = null, due_at = 0
    where project_id = ${p('projectId')} and model_id = ${p('modelId')} and lease_owner = ${p('owner')}
      and synced_seq = ${p('from')}
    returning change_seq`,
)

/**
 * First of all in a transaction that changes vectors. From here on it is the only one of the project and model, so that the numbers
 * of changes have the order of commits. `ended` is the `forced_seq` that all is done for, or 0. Undefined when another process has taken over, or all is to be made anew.
 */
export async function advanceProject(
  tx: Transaction,
  { projectId, modelId }: SyncKey,
  step: { owner: string; from: number; to: number; ended: number; until: Micros },
): Promise<number | undefined> {
  const [row] = await tx.run(advance, { projectId, modelId, ...step })
  return row?.change_seq
}

/** The provider failed: nobody goes on with the project before the time. Says nothing of one that another process has. */
export async function failProject(
  tx: Transaction,
  { projectId, modelId }: SyncKey,
  owner: string,
  failure: { failures: number; error: string; dueAt: Micros },
): Promise<void> {
  await tx.query
    .updateTable('project_embeddings')
    .set({
      failures: failure.failures,
      last_error: failure.error,
      due_at: failure.dueAt,
      lease_owner: null,
      leased_until: 0,
    })
    .where('project_id', '=', projectId)
    .where('model_id', '=', modelId)
    .where('lease_owner', '=', owner)
    .execute()
}

/** Nobody waits any longer with projects that the provider failed for. */
export async function forgetDelays(tx: Transaction, modelId: number): Promise<void> {
  await tx.query
    .updateTable('project_embeddings')
    .set({ due_at: 0 })
    .where('model_id', '=', modelId)
    .where('due_at', '>', 0)
    .execute()
}

/** The model has all notes: questions are put to it from now on. False when another process has the project. */
export async function completeProject(
  tx: Transaction,
  { projectId, modelId }: SyncKey,
  owner: string,
  now: Micros,
): Promise<boolean> {
  // A clock may have been set back since another model had all notes.
  const last = await tx.query
    .selectFrom('project_embeddings')
    .select((eb) => eb.fn.max('completed_at').as('at'))
    .where('project_id', '=', projectId)
    .where('model_id', '<>', modelId)
    .executeTakeFirst()
  const completedAt = Math.max(now, (last?.at ?? 0) + 1)
  const { numUpdatedRows } = await tx.query
    .updateTable('project_embeddings')
    .set({ completed_at: completedAt, lease_owner: null, leased_until: 0, due_at: 0, failures: 0, last_error: null })
    .where('project_id', '=', projectId)
    .where('model_id', '=', modelId)
    .where('lease_owner', '=', owner)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Everything is embedded anew, note by note; the vectors that are there stay until then. */
export async function restartProject(tx: Transaction, projectId: number, through: number): Promise<void> {
  await tx.query
    .updateTable('project_embeddings')
    .set({ synced_seq: 0, forced_seq: through, due_at: 0, failures: 0, last_error: null })
    .where('project_id', '=', projectId)
    .execute()
  await tx.query.deleteFrom('embedding_failures').where('project_id', '=', projectId).execute()
}

/**
 * Models whose vectors nobody needs any more, now that this one has all notes: those that had them before it, and those that were given
 * up before they had. One that is being filled, or had all notes later, is that of another process.
 */
export async function replacedModels(reader: Reader, { projectId, modelId }: SyncKey, now: Micros): Promise<number[]> {
  const { rows } = await sql<{ model_id: number }>`
    select o.model_id from project_embeddings o
    join project_embeddings e on e.project_id = o.project_id and e.model_id = ${modelId}
    where o.project_id = ${projectId} and o.model_id <> ${modelId} and (o.completed_at < e.completed_at
      or (o.completed_at is null and (o.lease_owner is null or o.leased_until < ${now})))`.execute(reader.query)
  return rows.map(({ model_id }) => model_id)
}

/** Whether another model has had all notes of a project later than this one, or has them while this one is gone. */
const isReplacedSql = (projectId: RawBuilder<unknown>, modelId: number) => sql<boolean>`exists (
  select 1 from project_embeddings o
  left join project_embeddings own on own.project_id = o.project_id and own.model_id = ${modelId}
  where o.project_id = ${projectId} and o.model_id <> ${modelId} and o.completed_at is not null
    and (own.completed_at is null or own.completed_at < o.completed_at))`

/** Projects that this model has had all notes of since then, and no other one later. */
export async function ownProjects(reader: Reader, modelId: number, since: Micros): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select e.project_id as id from project_embeddings e
    where e.model_id = ${modelId} and e.completed_at >= ${since}
      and not ${isReplacedSql(sql.ref('e.project_id'), modelId)}`.execute(reader.query)
  return rows.map(({ id }) => id)
}

/** Whether another model has had all notes of the project since this one had. */
export async function isReplaced(reader: Reader, { projectId, modelId }: SyncKey): Promise<boolean> {
  const { rows } = await sql<{ is: boolean | number }>`
    select ${isReplacedSql(sql`${projectId}`, modelId)} as "is"`.execute(reader.query)
  return Boolean(rows[0]?.is)
}

/** Models other than this one that the project has vectors of. */
export async function otherModels(reader: Reader, { projectId, modelId }: SyncKey): Promise<number[]> {
  const rows = await reader.query
    .selectFrom('project_embeddings')
    .select('model_id')
    .where('project_id', '=', projectId)
    .where('model_id', '<>', modelId)
    .execute()
  return rows.map(({ model_id }) => model_id)
}
