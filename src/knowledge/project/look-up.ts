import { AppError } from '../../platform/errors/app-error.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import { parseBareId } from '../../platform/ids/uuid.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import type { ProjectDetails } from './project.ts'
import { foldName, projectSlug } from './project-name.ts'
import { findProject, findProjectBy } from './store-projects.ts'

/** The project that a path names by its external id; a name or a number is not found, as is a deleted project. */
export async function requireProject<R extends Reader>(
  reader: R,
  pathId: string,
  find: (reader: R, externalId: string) => Promise<Project | undefined> = findProject,
): Promise<Project> {
  const externalId = parseBareId(pathId)
  const project = externalId === null ? undefined : await find(reader, externalId)
  if (project === undefined) throw projectNotFound(pathId)
  return project
}

export async function requireProjectDetails(reader: Reader, pathId: string): Promise<ProjectDetails> {
  const externalId = parseBareId(pathId)
  const project = externalId === null ? undefined : await findProjectBy(reader, 'external_id', externalId)
  if (project === undefined) throw projectNotFound(pathId)
  return project
}

export function projectNotFound(pathId: string): AppError {
  return new AppError('not_found', `Project not found: no project has the external_id '${shownId(pathId)}'`)
}

export type ResolutionMethod = 'external_id' | 'permalink' | 'name'

/** By id, by permalink, by name whatever its case, or by what the name would be as a permalink. */
export async function resolveProject(
  reader: Reader,
  identifier: string,
): Promise<{ project: ProjectDetails; method: ResolutionMethod }> {
  const text = identifier.trim()
  const externalId = parseBareId(text)
  const steps = [
    { method: 'external_id', key: 'external_id', value: externalId },
    { method: 'permalink', key: 'permalink', value: text },
    { method: 'name', key: 'name_folded', value: foldName(text) },
    { method: 'permalink', key: 'permalink', value: projectSlug(text) },
  ] as const
  for (const { method, key, value } of steps) {
    const project = value ? await findProjectBy(reader, key, value.toWellFormed().replaceAll('\0', '')) : undefined
    if (project !== undefined) return { project, method }
  }
  throw new AppError('not_found', `Project not found: no project has the id, permalink or name '${shownId(text)}'`)
}
