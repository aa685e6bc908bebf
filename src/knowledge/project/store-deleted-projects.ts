import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import type { ProjectDetails } from './project.ts'
import { type ProjectName, retiredKeys } from './project-name.ts'
import { toDetails } from './store-projects.ts'

export interface DeletedProject extends ProjectDetails {
  deletedAt: Micros
  /** Its notes are being taken away: it cannot come back. */
  isPurging: boolean
}

/** Invisible from now on, and its name is free. */
export async function markDeleted(
  tx: Transaction,
  project: Pick<ProjectDetails, 'id' | 'externalId'>,
  stage: 'deleted' | 'purging',
  now: Micros,
): Promise<void> {
  const { nameFolded, permalink } = retiredKeys(stage, project.externalId)
  await tx.query
    .updateTable('projects')
    .set({ name_folded: nameFolded, permalink, is_default: 0, deleted_at: now })
    .where('id', '=', project.id)
    .execute()
}

export async function markRestored(
  tx: Transaction,
  id: number,
  project: ProjectName & { formerPermalinks: string; path: string },
  now: Micros,
): Promise<void> {
  await tx.query
    .updateTable('projects')
    .set({
      name: project.name,
      name_folded: project.nameFolded,
      permalink: project.permalink,
      former_permalinks: project.formerPermalinks,
      path: project.path,
      deleted_at: null,
      modified_at: now,
    })
    .where('id', '=', id)
    .execute()
}

export async function findDeletedProject(reader: Reader, id: number): Promise<DeletedProject | undefined> {
  return firstDeleted(await deletedProjects(reader).where('id', '=', id).execute())
}

export async function findDeletedByExternalId(reader: Reader, externalId: string): Promise<DeletedProject | undefined> {
  return firstDeleted(await deletedProjects(reader).where('external_id', '=', externalId).execute())
}

/** Those that can still come back, the last deleted first. */
export async function restorableProjects(reader: Reader): Promise<DeletedProject[]> {
  const rows = await deletedProjects(reader).orderBy('deleted_at', 'desc').orderBy('id').execute()
  return rows.map(toDeleted).filter(({ isPurging }) => !isPurging)
}

export async function deleteProjectRow(tx: Transaction, id: number): Promise<void> {
  await tx.query.deleteFrom('projects').where('id', '=', id).execute()
}

function deletedProjects(reader: Reader) {
  return reader.query.selectFrom('projects').selectAll().where('deleted_at', 'is not', null)
}

type DeletedRow = Awaited<ReturnType<ReturnType<typeof deletedProjects>['execute']>>[number]

function firstDeleted([row]: DeletedRow[]): DeletedProject | undefined {
  return row && toDeleted(row)
}

function toDeleted(row: DeletedRow): DeletedProject {
  return {
    ...toDetails(row),
    deletedAt: row.deleted_at as Micros,
    isPurging: row.name_folded === retiredKeys('purging', row.external_id).nameFolded,
  }
}
