import { type Kysely, sql } from 'kysely'

/** Permalinks of notes begin with the name that their project had when they were written: it is remembered from now on. */
export const name = 'former project names'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table projects add column former_permalinks text not null default ''`.execute(db)
}
