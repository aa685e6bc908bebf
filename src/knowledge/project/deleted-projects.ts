import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { parseBareId } from '../../platform/ids/uuid.ts'
import { enqueueJob } from '../../platform/jobs/enqueue.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { CHANGES_TOPIC } from '../history/store-changes.ts'
import { projectNotFound, requireProjectDetails } from './look-up.ts'
import { formerAfter } from './permalink-prefixes.ts'
import type { ProjectDetails } from './project.ts'
import { type ProjectName, projectName } from './project-name.ts'
import {
  audit,
  counted,
  freePath,
  ownPaths,
  type ProjectChange,
  refuseOverlap,
  refuseTakenName,
  writeUnique,
} from './project-service.ts'
import { PURGE_PROJECT, type Purge } from './purge-project.ts'
import {
  type DeletedProject,
  findDeletedByExternalId,
  markDeleted,
  markRestored,
  restorableProjects,
} from './store-deleted-projects.ts'
import { findOverlap, otherProjectNames } from './store-projects.ts'

/** How long a deleted project can come back, unless its notes were to go with it. */
const KEPT_MS = 30 * 86_400_000
const MOST_ALTERNATIVES = 10

export interface Deletion {
  pathId: string
  /** Take the notes away at once instead of in thirty days. */
  deleteNotes: boolean
  /** When the job begins with it; a caller that does the work itself lets it wait. */
  purgeInMs?: number
}

/** Projects that were deleted: invisible at once, restorable for a while, then gone. */
export class DeletedProjects {
  readonly #db: Database
  readonly #clock: Clock

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  list(): Promise<DeletedProject[]> {
    return restorableProjects(this.#db)
  }

  delete(
    principal: Principal,
    { pathId, deleteNotes, purgeInMs = 0 }: Deletion,
    client?: ClientInfo,
  ): Promise<ProjectChange & { purge: Purge }> {
    return this.#db.write(async (tx) => {
      const project = await requireProjectDetails(tx, pathId)
      if (project.isDefault) throw await defaultProjectStays(tx, project)
      const before = await counted(tx, project)
      const now = this.#clock.now()
      const purge = { projectId: project.id, deletedAt: now, organizationId: principal.organizationId }
      await markDeleted(tx, project, deleteNotes ? 'purging' : 'deleted', now)
      // Whoever waits for changes has nothing to wait for any more.
      tx.signal(CHANGES_TOPIC, String(project.id))
      const dueAt = now + (deleteNotes ? purgeInMs : KEPT_MS) * MICROS_PER_MS
      // A job of its own: joined with that of an earlier deletion, which waits after a restore, it would be due as early as that one.
      await enqueueJob(tx, { kind: PURGE_PROJECT, key: `${project.id} ${now}`, payload: purge, dueAt }, now)
      const changes = { name: { old: project.name }, delete_notes: { new: deleteNotes } }
      await audit(tx, principal, project, { action: 'project.deleted', changes }, client)
      return { before, after: null, changed: true, purge }
    })
  }

  /** Under its old name or, where somebody has that by now, under another one. */
  restore(principal: Principal, pathId: string, newName?: string, client?: ClientInfo): Promise<ProjectChange> {
    return writeUnique(this.#db, async (tx) => {
      const externalId = parseBareId(pathId)
      const deleted = externalId === null ? undefined : await findDeletedByExternalId(tx, externalId)
      if (deleted === undefined || deleted.isPurging) throw projectNotFound(pathId)
      const name = projectName(newName ?? deleted.name, deleted.externalId)
      await refuseTakenName(tx, name, deleted.id)
      const { permalink: before } = projectName(deleted.name, deleted.externalId)
      const formerPermalinks = formerAfter({ ...deleted, permalink: before }, name.permalink)
      const path = await pathAgain(tx, deleted, name)
      await markRestored(tx, deleted.id, { ...name, formerPermalinks, path }, this.#clock.now())
      await audit(tx, principal, deleted, { action: 'project.restored', changes: { name: { new: name.name } } }, client)
      return { before: null, after: await counted(tx, await requireProjectDetails(tx, pathId)), changed: true }
    })
  }
}

/** The one it had. Where somebody has that by now, one that nobody chose gives way. */
async function pathAgain(tx: Transaction, deleted: DeletedProject, { permalink }: ProjectName): Promise<string> {
  const { path, externalId } = deleted
  const { permalink: before } = projectName(deleted.name, externalId)
  if (ownPaths(before, externalId).includes(path) && (await findOverlap(tx, path, null)) !== undefined) {
    return freePath(tx, permalink, externalId)
  }
  await refuseOverlap(tx, path, deleted.id, 'give that one another path first')
  return path
}

async function defaultProjectStays(tx: Transaction, project: ProjectDetails): Promise<AppError> {
  const names = await otherProjectNames(tx, project.id, MOST_ALTERNATIVES)
  const advice =
    names.length === 0
      ? 'create another project and make that the default first'
      : `make another one the default first, such as ${names.map((name) => `'${name}'`).join(', ')}`
  return new AppError('invalid_argument', `'${project.name}' is the default project and cannot be deleted: ${advice}`)
}
