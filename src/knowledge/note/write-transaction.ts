import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Transaction, WriteOptions } from '../../platform/storage/database.ts'
import { isUniqueViolation } from '../../platform/storage/storage-errors.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { requireProject } from '../project/look-up.ts'
import { findAndLockProject } from '../project/store-project-lock.ts'
import { knowledgeId } from '../project/urls.ts'
import { inTurn } from './in-turn.ts'
import type { WriteContext } from './write-note.ts'

export interface Writer {
  principal: Principal
  client?: ClientInfo | undefined
}

/** A change inside a transaction, which may run more than once. */
export type NoteWork<T> = (tx: Transaction, context: WriteContext) => Promise<T>

const MOST_TRIES = 5

/**
 * One change of the notes of one project. On SQLite they share commits. On PostgreSQL those of one project wait for one another:
 * a change reads names and links all over its project, so that most of those which run side by side would have to begin again.
 */
export function writeIn<T>(
  deps: KnowledgeDeps,
  writer: Writer,
  projectId: string,
  work: NoteWork<T>,
  options?: WriteOptions,
): Promise<T> {
  const { db, clock, settings } = deps
  const change = async (tx: Transaction) => {
    const project = await requireProject(tx, projectId, tx.engine === 'postgres' ? findAndLockProject : undefined)
    return work(tx, { project, ...writer, now: clock.now(), settings })
  }
  if (db.engine === 'sqlite') return db.write(change, options)
  return inTurn(db, knowledgeId(projectId) ?? '', async () => {
    for (let tries = 1; ; tries++) {
      try {
        return await db.write(change, { ...options, isolation: 'read committed' })
      } catch (error) {
        // An id that a note of another project was given at the same moment: who looks again finds it.
        if (tries === MOST_TRIES || !isUniqueViolation(error)) throw error
      }
    }
  })
}
