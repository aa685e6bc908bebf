import { type Insertable, type Selectable, sql } from 'kysely'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { readTallies } from '../../platform/tally/store.ts'
import type { Project } from '../note/note.ts'
import type { ProjectsTable } from '../tables.ts'
import { noteTally } from './note-tally.ts'
import type { ListedProject, ProjectDetails } from './project.ts'

export async function insertProject(tx: Transaction, row: Insertable<ProjectsTable>): Promise<void> {
  await tx.query.insertInto('projects').values(row).execute()
}

const byExternalId = statement<{ externalId: string }, Project>((query, p) =>
  query
    .selectFrom('projects')
    .select(['id', 'external_id as externalId', 'name', 'permalink', 'former_permalinks as formerPermalinks'])
    .where('external_id', '=', p('externalId'))
    .where('deleted_at', 'is', null),
)

/** Every request of the feature begins with it. Deleted projects are not found. */
export async function findProject(reader: Reader, externalId: string): Promise<Project | undefined> {
  const [project] = await reader.run(byExternalId, { externalId })
  return project
}

export type ProjectKey = 'external_id' | 'permalink' | 'name_folded'

export async function findProjectBy(
  reader: Reader,
  key: ProjectKey,
  value: string,
): Promise<ProjectDetails | undefined> {
  const row = await liveProjects(reader).selectAll().where(key, '=', value).executeTakeFirst()
  return row && toDetails(row)
}

/** The project that had this permalink before and has another now; none when several had it. */
export async function findProjectFormerly(reader: Reader, permalink: string): Promise<ProjectDetails | undefined> {
  const find = sql.raw(reader.engine === 'sqlite' ? 'instr' : 'strpos')
  const rows = await liveProjects(reader)
    .selectAll()
    .where(sql<boolean>`${find}('/' || former_permalinks || '/', ${`/${permalink}/`}) > 0`)
    .limit(2)
    .execute()
  return rows.length === 1 && rows[0] !== undefined ? toDetails(rows[0]) : undefined
}

export async function findDefaultProject(reader: Reader): Promise<ProjectDetails | undefined> {
  const row = await liveProjects(reader).selectAll().where('is_default', '=', 1).executeTakeFirst()
  return row && toDetails(row)
}

/** Oldest first. */
export async function allProjects(reader: Reader): Promise<ProjectDetails[]> {
  return (await liveProjects(reader).selectAll().orderBy('id').execute()).map(toDetails)
}

/** The oldest of the others. */
export async function otherProjectNames(reader: Reader, projectId: number, limit: number): Promise<string[]> {
  const rows = await liveProjects(reader)
    .select('name')
    .where('id', '<>', projectId)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ name }) => name)
}

/** A project whose path is this one, lies in it or holds it. */
export async function findOverlap(
  reader: Reader,
  path: string,
  exceptId: number | null,
): Promise<ProjectDetails | undefined> {
  const holds = (outer: unknown, inner: unknown) =>
    sql<boolean>`substr(${inner}, 1, length(${outer}) + 1) = ${outer} || '/'`
  const given = sql`cast(${path} as text)`
  let query = liveProjects(reader)
    .selectAll()
    .where((eb) => eb.or([eb('path', '=', path), holds(given, sql.ref('path')), holds(sql.ref('path'), given)]))
  if (exceptId !== null) query = query.where('id', '<>', exceptId)
  const row = await query.orderBy('id').limit(1).executeTakeFirst()
  return row && toDetails(row)
}

export async function updateProject(tx: Transaction, project: ProjectDetails): Promise<void> {
  await tx.query
    .updateTable('projects')
    .set({
      name: project.name,
      name_folded: project.nameFolded,
      permalink: project.permalink,
      former_permalinks: project.formerPermalinks,
      path: project.path,
      is_active: project.isActive ? 1 : 0,
      modified_at: project.modifiedAt,
    })
    .where('id', '=', project.id)
    .execute()
}

/** At most one project is the default one, at every moment of the transaction. */
export async function moveDefault(tx: Transaction, toId: number, now: Micros): Promise<void> {
  const set = (isDefault: 0 | 1) => tx.query.updateTable('projects').set({ is_default: isDefault, modified_at: now })
  await set(0).where('is_default', '=', 1).execute()
  await set(1).where('id', '=', toId).execute()
}

const TALLIES_AT_ONCE = 500

export async function withNoteCounts(reader: Reader, projects: readonly ProjectDetails[]): Promise<ListedProject[]> {
  const listed: ListedProject[] = []
  for (let at = 0; at < projects.length; at += TALLIES_AT_ONCE) {
    const some = projects.slice(at, at + TALLIES_AT_ONCE)
    const tallies = await readTallies(
      reader,
      some.map(({ id }) => noteTally(id)),
    )
    for (const project of some) listed.push({ ...project, noteCount: tallies.get(noteTally(project.id)) ?? 0 })
  }
  return listed
}

function liveProjects(reader: Reader) {
  return reader.query.selectFrom('projects').where('deleted_at', 'is', null)
}

export function toDetails(row: Selectable<ProjectsTable>): ProjectDetails {
  return {
    id: row.id,
    externalId: row.external_id,
    name: row.name,
    nameFolded: row.name_folded,
    permalink: row.permalink,
    formerPermalinks: row.former_permalinks,
    path: row.path,
    isDefault: row.is_default === 1,
    isActive: row.is_active === 1,
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  }
}
