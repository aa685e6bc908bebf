import { type Kysely, sql } from 'kysely'

/**
 * What PostgreSQL counts of these columns is how many rows the large projects and namespaces have. Of a new one it then thinks that
 * there is one row, until a tenth of the table has changed: it takes any index that begins with the column, and reads all that is in
 * the project for each note that it looks up. Uncounted, each is one of two hundred, and the whole key is what an index is chosen for.
 */
export const name = 'tenant statistics'

const PROJECTS = [
  'notes',
  'note_names',
  'note_changes',
  'note_trash',
  'relations',
  'note_embeddings',
  'note_vectors',
  'embedding_failures',
]
const NAMESPACES = ['callback_runs', 'callback_destinations', 'callback_replays']

export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  if (engine === 'sqlite') return
  for (const table of PROJECTS) await leaveUncounted(db, table, 'project_id', 'bigint')
  for (const table of NAMESPACES) await leaveUncounted(db, table, 'namespace_id', 'text')
}

/** What was counted before is forgotten with the type, although that stays the same: no table is written anew for it. */
async function leaveUncounted(db: Kysely<unknown>, table: string, column: string, type: string): Promise<void> {
  const [place, changed] = [sql.ref(table), sql.ref(column)]
  await sql`alter table ${place} alter column ${changed} set statistics 0, alter column ${changed} type ${sql.raw(type)}`.execute(
    db,
  )
}
