/** The last change of every note, in the order in which they were committed. */
import { type Selectable, sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { Engine } from '../../platform/storage/engine.ts'
import { numbersIn } from '../../platform/storage/json-list.ts'
import { lookUp, unplanned } from '../../platform/storage/look-up.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { Note, Project } from '../note/note.ts'
import type { NoteChange, NoteChangesTable } from '../tables.ts'

// A new number every time: whoever has read up to the old one is told again.
const upsertChange = statement<Omit<RecordedChange, 'seq'>>((_query, p, engine) => {
  const columns = sql.raw('note_changes (project_id, external_id, change, version, file_path, changed_at, changed_by)')
  const values = sql`(${p('project_id')}, ${p('external_id')}, ${p('change')}, ${p('version')}, ${p('file_path')},
    ${p('changed_at')}, ${p('changed_by')})`
  return engine === 'sqlite'
    ? sql`insert or replace into ${columns} values ${values}`
    : sql`insert into ${columns} values ${values} on conflict (project_id, external_id) do update set
        seq = excluded.seq, change = excluded.change, version = excluded.version,
        file_path = excluded.file_path, changed_at = excluded.changed_at, changed_by = excluded.changed_by`
})

/** Who waits for changes listens to this; the body is the number of the project. */
export const CHANGES_TOPIC = 'knowledge.changes'

export function recordChange(
  tx: Transaction,
  project: Pick<Project, 'id'>,
  note: Pick<Note, 'external_id' | 'version' | 'file_path'>,
  { change, at, by }: { change: NoteChange; at: Micros; by: string | null },
): Promise<unknown> {
  // NOTE Not on PostgreSQL: a notification makes commits wait for one another. Who waits there looks again and again.
  if (tx.engine === 'sqlite') tx.signal(CHANGES_TOPIC, String(project.id))
  return tx.send(upsertChange, {
    project_id: project.id,
    external_id: note.external_id,
    change,
    version: note.version,
    file_path: note.file_path,
    changed_at: at,
    changed_by: by,
  })
}

/** A change and where it stands in the order. */
export type RecordedChange = Selectable<NoteChangesTable>

/** The first changes behind a number, oldest first. Writers of one project wait for one another, so none comes late. */
export function listChanges(
  reader: Reader,
  projectId: number,
  after: number,
  limit: number,
): Promise<RecordedChange[]> {
  return reader.query
    .selectFrom('note_changes')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(unplanned(reader.engine, limit))
    .execute()
}

const lastOfProject = statement<{ projectId: number }, { last: number | null }>(
  (_query, p) => sql`select max(seq) as last from note_changes where project_id = ${p('projectId')}`,
)

/** The number of the project's last change, or 0. Writers of one project wait for one another, so none comes before it later. */
export async function lastChange(reader: Reader, projectId: number): Promise<number> {
  const [row] = await reader.run(lastOfProject, { projectId })
  return row?.last ?? 0
}

const lastOfProjects = statement<{ projectIds: string }, { id: number; last: number | null }>(
  (_query, p, engine) => sql`
    select p.id, (select max(c.seq) from note_changes c where c.project_id = p.id) as last
    from projects p where p.deleted_at is null and p.id in ${numbersIn(engine, p('projectIds'))}`,
)

/** The same of several projects, by their numbers; of one that was deleted nothing. */
export async function lastChanges(reader: Reader, projectIds: readonly number[]): Promise<Map<number, number>> {
  const rows = await reader.run(lastOfProjects, { projectIds: JSON.stringify(projectIds) })
  return new Map(rows.map(({ id, last }) => [id, last ?? 0]))
}

/** Whether this database has handed out such a number: one that was put back to an earlier state may not have. */
export async function hasReached(reader: Reader, seq: number): Promise<boolean> {
  const { rows } = await (reader.engine === 'sqlite'
    ? sql<{ last: number | null }>`select max(seq) as last from sqlite_sequence where name = 'note_changes'`
    : sql<{ last: number | null }>`
        select pg_sequence_last_value(pg_get_serial_sequence('note_changes', 'seq')::regclass) as last`
  ).execute(reader.query)
  return seq <= Number(rows[0]?.last ?? 0)
}

/** A join with the last change `c` of each note `n`. */
export function lastChangeOf(engine: Engine) {
  const on = sql`c.project_id = n.project_id and c.external_id = n.external_id`
  return lookUp(engine, { table: 'note_changes', as: 'c', on })
}

/** Forgets that notes were deleted before the time. How many, at most `limit`. */
export async function deleteTombstones(tx: Transaction, before: Micros, limit: number): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    select seq from note_changes where change = 'deleted' and changed_at < ${before} order by seq limit ${limit}`.execute(
    tx.query,
  )
  if (rows.length === 0) return 0
  await tx.query
    .deleteFrom('note_changes')
    .where(
      'seq',
      'in',
      rows.map(({ seq }) => seq),
    )
    .execute()
  return rows.length
}
