import { type Kysely, sql } from 'kysely'

/**
 * What earlier versions read out of texts in another way. A note called `std::vector` is found as `std/vector`, too, which is what links ask
 * for: projects with such names are read anew by the job that does so for whoever asks. And on PostgreSQL filters ask for values in
 * one Unicode form: rows of notes that have others are written anew by the job for rows of an earlier form.
 */
export const name = 'read again'

const NAMED_SO = '%::%'
const ROWS_OF_A_NOTE = 2 ** 22

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  await readNamesAgain(db)
  if (engine === 'postgres') await writeRowsAgain(db)
}

async function writeRowsAgain(db: Kysely<unknown>): Promise<void> {
  await sql`update note_search s set words = null from notes n
    where s.id = n.id * ${sql.lit(ROWS_OF_A_NOTE)}
      and (n.metadata is not nfc normalized or n.note_type is not nfc normalized)`.execute(db)
}

async function readNamesAgain(db: Kysely<unknown>): Promise<void> {
  // Kinds other than 0 are aliases and names of the past.
  const { rows } = await sql<{ id: number; external_id: string; past: number }>`
    select p.id, p.external_id, p.modified_at as past from projects p where p.deleted_at is null and (
      exists (select 1 from notes n where n.project_id = p.id and n.title like ${sql.lit(NAMED_SO)})
      or exists (select 1 from note_names a where a.project_id = p.id and a.kind <> 0 and a.value like ${sql.lit(NAMED_SO)}))`.execute(
    db,
  )
  for (const { id, external_id, past } of rows) {
    const payload = JSON.stringify({ externalId: external_id, afterId: 0, done: 0 })
    // Due since long ago, which is at once. One that waits already may have come past some notes: it begins anew.
    await sql`
      insert into jobs (id, kind, coalesce_key, payload, state, due_at, created_at, changed_at)
      values (${crypto.randomUUID()}, 'knowledge.index-project', ${String(id)}, ${payload}, 'waiting', ${past}, ${past}, ${past})
      on conflict (kind, coalesce_key) where state = 'waiting' and coalesce_key is not null
      do update set payload = excluded.payload, due_at = excluded.due_at`.execute(db)
  }
}
