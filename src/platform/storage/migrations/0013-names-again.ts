import { type Kysely, sql } from 'kysely'

/**
 * A note called `std::vector` is found as `std/vector`, too, which is what links ask for. Only the text of a note tells its names, so
 * projects with such names are read anew by the job that does so for whoever asks.
 */
export const name = 'names again'

const NAMED_SO = '%::%'

export async function up(db: Kysely<unknown>): Promise<void> {
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
