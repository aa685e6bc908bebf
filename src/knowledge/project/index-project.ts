import type { Clock } from '../../platform/clock/clock.ts'
import { type Job, type JobContext, jobKind } from '../../platform/jobs/job-kind.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import { reindexNote } from '../note/reindex-note.ts'
import { notesAfter } from './store-project-facts.ts'
import { lockProject, UNDER_LOCK } from './store-project-lock.ts'
import { findProject } from './store-projects.ts'

export interface IndexWork {
  externalId: string
  /** The last note that is done: whoever is moved meanwhile keeps the number. Absent in work that an earlier version began. */
  afterId?: number
  done: number
}

/** Reads what is derived from texts out of them anew. A new request begins from the start. */
export const INDEX_PROJECT = jobKind<IndexWork>('knowledge.index-project', { concurrency: 1 })

const BATCH = 50
// Nobody else writes to SQLite meanwhile: behind a note that took longer the next batch begins.
const BATCH_MS = 100

export type Reindex = (tx: Transaction, project: Project, noteId: number) => Promise<void>

export function firstIndexWork(project: Pick<Project, 'externalId'>): IndexWork {
  return { externalId: project.externalId, afterId: 0, done: 0 }
}

export interface IndexDeps {
  db: Database
  clock: Clock
  /** For tests of the job itself. */
  reindex?: Reindex
}

/** One batch and the place to go on from, in one transaction: a batch is done wholly or not at all, and never twice. */
export async function runIndexJob(deps: IndexDeps, job: Job<IndexWork>, context: JobContext<IndexWork>): Promise<void> {
  const { db, clock } = deps
  await db.write(async (tx) => {
    const next = await indexBatch(tx, deps, job.payload)
    await context.complete(tx, next === null ? undefined : { againAt: clock.now(), payload: next })
  }, UNDER_LOCK)
}

/** All of it, while the caller waits. How many notes were read. */
export async function indexNow(
  deps: IndexDeps,
  work: IndexWork,
  onProgress?: (notes: number) => void,
): Promise<number> {
  for (let current = work; ; ) {
    const from = current
    const next = await deps.db.write((tx) => indexBatch(tx, deps, from), UNDER_LOCK)
    if (next === null) return current.done
    current = next
    onProgress?.(current.done)
  }
}

/** Null when there is nothing left. */
async function indexBatch(
  tx: Transaction,
  { clock, reindex = reindexNote }: IndexDeps,
  { externalId, afterId = 0, done }: IndexWork,
): Promise<IndexWork | null> {
  const project = await findProject(tx, externalId)
  if (project === undefined) return null
  await lockProject(tx, project)
  const ids = await notesAfter(tx, project.id, afterId, BATCH)
  const endAt = clock.elapsedMs() + BATCH_MS
  for (const [at, id] of ids.entries()) {
    await reindex(tx, project, id)
    if (at === ids.length - 1 || clock.elapsedMs() >= endAt) return { externalId, afterId: id, done: done + at + 1 }
  }
  return null
}
