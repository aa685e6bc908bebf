import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { parseBareId } from '../../platform/ids/uuid.ts'
import type { Database, Transaction, WriteOptions } from '../../platform/storage/database.ts'
import { isUniqueViolation } from '../../platform/storage/storage-errors.ts'
import type { KnowledgeDeps } from '../deps.ts'
import { projectNotFound, requireProject } from '../project/look-up.ts'
import { findAndLockProject } from '../project/store-project-lock.ts'
import { inTurn } from './in-turn.ts'
import type { Project } from './note.ts'
import { SharedTurns } from './shared-turns.ts'
import type { WriteContext } from './write-note.ts'

export interface Writer {
  principal: Principal
  client?: ClientInfo | undefined
}

/** A change inside a transaction, which may run more than once. */
export type NoteWork<T> = (tx: Transaction, context: WriteContext) => Promise<T>

const MOST_TRIES = 5

type Turns = SharedTurns<Project>
const turnsOf = new WeakMap<Database, Map<string, Turns>>()

/**
 * One change of the notes of one project. On SQLite they share commits. On PostgreSQL those of one project wait for one another:
 * a change reads names and links all over its project, so that most of those which run side by side would have to begin again.
 * Those that wait share a commit there, too.
 */
export async function writeIn<T>(
  deps: KnowledgeDeps,
  writer: Writer,
  projectId: string,
  work: NoteWork<T>,
  options: WriteOptions = {},
): Promise<T> {
  const { db, clock, settings } = deps
  const change = (tx: Transaction, project: Project) => work(tx, { project, ...writer, now: clock.now(), settings })
  if (db.engine === 'sqlite') {
    return db.write(async (tx) => change(tx, await requireProject(tx, projectId)), options)
  }
  const key = parseBareId(projectId)
  if (key === null) throw projectNotFound(projectId)
  const alone = () => writeAlone(db, async (tx) => change(tx, await lockedProject(tx, projectId)), options)
  if (options.alone) return inTurn(db, key, alone)
  const turns = turnsFor(deps, key)
  try {
    return await turns.make({ together: change, alone })
  } finally {
    if (turns.isIdle) turnsOf.get(db)?.delete(key)
  }
}

function lockedProject(tx: Transaction, projectId: string): Promise<Project> {
  return requireProject(tx, projectId, findAndLockProject)
}

async function writeAlone<T>(db: Database, change: (tx: Transaction) => Promise<T>, options: WriteOptions): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.write(change, { ...options, isolation: 'read committed' })
    } catch (error) {
      // An id that a note of another project was given at the same moment: who looks again finds it.
      if (tries === MOST_TRIES || !isUniqueViolation(error)) throw error
    }
  }
}

function turnsFor({ db, clock }: KnowledgeDeps, projectId: string): Turns {
  const all = turnsOf.get(db) ?? new Map<string, Turns>()
  turnsOf.set(db, all)
  const known = all.get(projectId)
  if (known !== undefined) return known
  const turns = new SharedTurns({ db, clock, key: projectId, begin: (tx) => lockedProject(tx, projectId) })
  all.set(projectId, turns)
  return turns
}
