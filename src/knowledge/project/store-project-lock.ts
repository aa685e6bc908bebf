import { sql } from 'kysely'
import type { Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { Project } from '../note/note.ts'

// Any number that nothing else locks by; the second one is the project.
const NOTES = 1_852_798_003

const lock = statement<{ projectId: number }, { locked: unknown }>(
  (_query, p) =>
    sql`select pg_advisory_xact_lock(${sql.lit(NOTES)}, (${p('projectId')}::bigint % 2147483647)::int) as locked`,
)

/**
 * From here to its end the transaction is the only one that changes notes of the project, in whatever process. It must be
 * `read committed`, so that it sees what was written while it waited. SQLite has one writer anyway.
 */
export async function lockProject(tx: Transaction, { id: projectId }: Pick<Project, 'id'>): Promise<void> {
  if (tx.engine === 'postgres') await tx.run(lock, { projectId })
}
