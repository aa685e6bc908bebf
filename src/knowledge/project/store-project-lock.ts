import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { Project } from '../note/note.ts'

// Any number that nothing else locks by; the second one is the project.
const NOTES = 1_852_798_003

const LOCK = (id: RawBuilder<unknown>) => sql`pg_advisory_xact_lock(${sql.lit(NOTES)}, (${id} % 2147483647)::int)`

const lock = statement<{ projectId: number }, { locked: unknown }>(
  (_query, p) => sql`select ${LOCK(sql`${p('projectId')}::bigint`)} as locked`,
)

/** How a transaction is opened that locks a project and takes its time. */
export const UNDER_LOCK = { alone: true, isolation: 'read committed' } as const

/**
 * From here to its end the transaction is the only one that changes notes of the project, in whatever process. It must be
 * `read committed`, so that it sees what was written while it waited. SQLite has one writer anyway.
 */
export async function lockProject(tx: Transaction, { id: projectId }: Pick<Project, 'id'>): Promise<void> {
  if (tx.engine === 'postgres') await tx.run(lock, { projectId })
}

const lockFound = statement<{ externalId: string }, Project & { locked: unknown }>(
  (_query, p) => sql`
    select id, external_id as "externalId", name, permalink, former_permalinks as "formerPermalinks", ${LOCK(sql`id`)} as locked
    from projects where external_id = ${p('externalId')} and deleted_at is null`,
)

/** The same by one round trip for whoever has yet to find the project. PostgreSQL only. */
export async function findAndLockProject(tx: Transaction, externalId: string): Promise<Project | undefined> {
  const [found] = await tx.run(lockFound, { externalId })
  if (found === undefined) return undefined
  const { locked: _, ...project } = found
  return project
}
