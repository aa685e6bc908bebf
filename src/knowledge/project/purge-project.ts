import { recordAudit, SYSTEM_ACTOR } from '../../platform/audit/record.ts'
import type { OrganizationId } from '../../platform/auth/principal.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import { jobKind } from '../../platform/jobs/job-kind.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { dropTally } from '../../platform/tally/store.ts'
import { removeVectorsOf } from '../semantic/sync/store-vectors.ts'
import { noteTally } from './note-tally.ts'
import { type DeletedProject, deleteProjectRow, findDeletedProject, markDeleted } from './store-deleted-projects.ts'
import { lockProject, UNDER_LOCK } from './store-project-lock.ts'
import { removeChanges, removeNames, removeNoteRows, removeTrash, someNotes } from './store-purge.ts'

export interface Purge {
  projectId: number
  /** Of the deletion that asked for it: a project that came back since is left alone. */
  deletedAt: Micros
  organizationId: OrganizationId
}

/** Takes away what a deleted project held. Every batch is found anew, so it goes on wherever a crash left it. */
export const PURGE_PROJECT = jobKind<Purge>('knowledge.purge-project', { concurrency: 1, maxAttempts: 100 })

const NOTES = 100
const ROWS = 1_000

export interface PurgeOptions {
  db: Database
  signal?: AbortSignal
  /** Told after each batch how many notes are gone so far. */
  onProgress?(notes: number): void
}

export async function purgeProject(options: PurgeOptions, purge: Purge): Promise<void> {
  const { db, signal, onProgress } = options
  let notes = 0
  for (let step: Step = await begin(options, purge); step !== 'done'; ) {
    signal?.throwIfAborted()
    const current = step
    const { removed, next } = await db.write((tx) => removeSome(tx, purge, current), UNDER_LOCK)
    step = next
    notes += removed
    onProgress?.(notes)
  }
}

type Step = 'notes' | 'vectors' | 'names' | 'trash' | 'changes' | 'project' | 'done'

async function begin({ db }: PurgeOptions, purge: Purge): Promise<Step> {
  return db.write(async (tx) => {
    const project = await projectToPurge(tx, purge)
    if (project === undefined) return 'done'
    // From here on there is no way back: a project with half its notes is worse than none.
    if (!project.isPurging) await markDeleted(tx, project, 'purging', project.deletedAt)
    return 'notes'
  })
}

async function removeSome(tx: Transaction, purge: Purge, step: Step): Promise<{ removed: number; next: Step }> {
  const { projectId } = purge
  // What a job writes about its notes at this moment goes with them.
  await lockProject(tx, { id: projectId })
  switch (step) {
    case 'notes': {
      const notes = await someNotes(tx, projectId, NOTES)
      await removeNoteRows(tx, projectId, notes)
      return { removed: notes.length, next: notes.length === 0 ? 'vectors' : 'notes' }
    }
    case 'vectors':
      return { removed: 0, next: (await removeVectorsOf(tx, projectId, ROWS)) === 0 ? 'names' : 'vectors' }
    case 'names':
      return { removed: 0, next: (await removeNames(tx, projectId, ROWS)) < ROWS ? 'trash' : 'names' }
    case 'trash':
      return { removed: 0, next: (await removeTrash(tx, projectId, NOTES)) === 0 ? 'changes' : 'trash' }
    case 'changes':
      return { removed: 0, next: (await removeChanges(tx, projectId, ROWS)) < ROWS ? 'project' : 'changes' }
    default:
      await removeProject(tx, purge)
      return { removed: 0, next: 'done' }
  }
}

async function removeProject(tx: Transaction, purge: Purge): Promise<void> {
  const project = await projectToPurge(tx, purge)
  if (project === undefined) return
  await dropTally(tx, noteTally(project.id))
  await deleteProjectRow(tx, project.id)
  await recordAudit(tx, {
    organizationId: purge.organizationId,
    action: 'project.purged',
    actor: SYSTEM_ACTOR,
    target: { type: 'projects', id: project.externalId },
    changes: { name: { old: project.name } },
  })
}

async function projectToPurge(tx: Transaction, { projectId, deletedAt }: Purge): Promise<DeletedProject | undefined> {
  const project = await findDeletedProject(tx, projectId)
  return project?.deletedAt === deletedAt ? project : undefined
}
