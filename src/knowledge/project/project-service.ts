import { auditChange, type Change, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import { isUniqueViolation } from '../../platform/storage/storage-errors.ts'
import { requireProjectDetails } from './look-up.ts'
import { formerAfter } from './permalink-prefixes.ts'
import type { ListedProject, ProjectDetails, ProjectUpdate } from './project.ts'
import { type ProjectName, projectName } from './project-name.ts'
import { absoluteProjectPath, projectPath } from './project-path.ts'
import {
  allProjects,
  findDefaultProject,
  findOverlap,
  findProjectBy,
  insertProject,
  moveDefault,
  updateProject,
  withNoteCounts,
} from './store-projects.ts'

export interface ProjectChange {
  /** As it was before; null when there was none. */
  before: ListedProject | null
  /** As it is now; null when it is gone. */
  after: ListedProject | null
  /** False when it was so already. */
  changed: boolean
}

export interface NewProject {
  name: string
  /** Chosen by the server when absent. */
  path?: string
  setDefault?: boolean
}

/** Projects that are there; deleted-projects.ts is about those that were. */
export class ProjectService {
  readonly #db: Database
  readonly #clock: Clock

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db
    this.#clock = clock
  }

  list(): Promise<ListedProject[]> {
    return this.#db.read(async (snapshot) => withNoteCounts(snapshot, await allProjects(snapshot)))
  }

  get(pathId: string): Promise<ListedProject> {
    return this.#db.read(async (snapshot) => counted(snapshot, await requireProjectDetails(snapshot, pathId)))
  }

  /** Asking for the same project again changes nothing but the default. */
  create(principal: Principal, input: NewProject, client?: ClientInfo): Promise<ProjectChange> {
    const externalId = newId()
    const name = projectName(input.name, externalId)
    const path = input.path === undefined ? undefined : projectPath(input.path)
    return writeUnique(this.#db, async (tx) => {
      const existing = await findSame(tx, name, path)
      const project = existing ?? (await this.#insert(tx, externalId, name, path))
      const record = (change: Omit<Change, 'target'>) => audit(tx, principal, project, change, client)
      if (existing === undefined) {
        await record({
          action: 'project.created',
          changes: { name: { new: project.name }, path: { new: project.path } },
        })
      }
      const former = await findDefaultProject(tx)
      if (former === undefined || (input.setDefault === true && former.id !== project.id)) {
        await moveDefault(tx, project.id, this.#clock.now())
        await record({ action: 'project.made_default', changes: { default: { old: former?.name, new: project.name } } })
      }
      const after = await counted(tx, await requireProjectDetails(tx, project.externalId))
      return { before: null, after, changed: existing === undefined }
    })
  }

  update(principal: Principal, pathId: string, input: ProjectUpdate, client?: ClientInfo): Promise<ProjectChange> {
    return writeUnique(this.#db, async (tx) => {
      const before = await requireProjectDetails(tx, pathId)
      const after = { ...before, ...(await this.#changed(tx, before, input)) }
      const changes = changesBetween(before, after)
      const changed = Object.keys(changes).length > 0
      if (changed) {
        after.modifiedAt = this.#clock.now()
        await updateProject(tx, after)
        await audit(tx, principal, before, { action: 'project.updated', changes }, client)
      }
      return { before: await counted(tx, before), after: await counted(tx, after), changed }
    })
  }

  /** `before` is the project that was the default, as it is now: one answer never shows two defaults. */
  setDefault(principal: Principal, pathId: string, client?: ClientInfo): Promise<ProjectChange> {
    return this.#db.write(async (tx) => {
      const project = await requireProjectDetails(tx, pathId)
      const former = await findDefaultProject(tx)
      const changed = former?.id !== project.id
      if (changed) {
        await moveDefault(tx, project.id, this.#clock.now())
        const changes = { default: { old: former?.name, new: project.name } }
        await audit(tx, principal, project, { action: 'project.made_default', changes }, client)
      }
      const now = async ({ externalId }: ProjectDetails) => counted(tx, await requireProjectDetails(tx, externalId))
      return { before: former === undefined ? null : await now(former), after: await now(project), changed }
    })
  }

  async #insert(
    tx: Transaction,
    externalId: string,
    { name, nameFolded, permalink }: ProjectName,
    path: string | undefined,
  ): Promise<ProjectDetails> {
    const now = this.#clock.now()
    await insertProject(tx, {
      external_id: externalId,
      name,
      name_folded: nameFolded,
      permalink,
      path: path ?? (await freePath(tx, permalink, externalId)),
      is_default: 0,
      created_at: now,
      modified_at: now,
    })
    return requireProjectDetails(tx, externalId)
  }

  async #changed(tx: Transaction, before: ProjectDetails, input: ProjectUpdate): Promise<Partial<ProjectDetails>> {
    const changed: Partial<ProjectDetails> = {}
    if (input.name !== undefined) {
      const name = projectName(input.name, before.externalId)
      await refuseTakenName(tx, name, before.id)
      Object.assign(changed, name, { formerPermalinks: formerAfter(before, name.permalink) })
    }
    if (input.path !== undefined) {
      changed.path = absoluteProjectPath(input.path)
      await refuseOverlap(tx, changed.path, before.id)
    }
    if (input.isActive !== undefined) changed.isActive = input.isActive
    return changed
  }
}

/** Whoever loses a race for a name tries again, and then sees who has it. */
export async function writeUnique<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  try {
    return await db.write(work)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    return db.write(work)
  }
}

export async function counted(reader: Reader, project: ProjectDetails): Promise<ListedProject> {
  const [listed] = await withNoteCounts(reader, [project])
  return listed as ListedProject
}

export function audit(
  tx: Transaction,
  principal: Principal,
  project: Pick<ProjectDetails, 'externalId'>,
  change: Omit<Change, 'target'>,
  client?: ClientInfo,
): Promise<void> {
  return auditChange(tx, principal, { ...change, target: { type: 'projects', id: project.externalId } }, client)
}

/** The project that is asked for once more, with the same path if one is named. */
async function findSame(
  tx: Transaction,
  name: ProjectName,
  path: string | undefined,
): Promise<ProjectDetails | undefined> {
  const existing = await findProjectBy(tx, 'name_folded', name.nameFolded)
  if (existing?.name === name.name && (path === undefined || path === existing.path)) return existing
  await refuseTakenName(tx, name, null)
  if (path !== undefined) await refuseOverlap(tx, path, null)
  return undefined
}

export async function refuseTakenName(tx: Transaction, name: ProjectName, exceptId: number | null): Promise<void> {
  const alike = [
    await findProjectBy(tx, 'name_folded', name.nameFolded),
    await findProjectBy(tx, 'permalink', name.permalink),
  ]
  const taken = alike.find((project) => project !== undefined && project.id !== exceptId)
  if (taken === undefined) return
  const like = taken.name === name.name ? '' : `, which is too much like '${name.name}'`
  throw new AppError('invalid_argument', `A project named '${taken.name}' already exists${like}: choose another name`)
}

export async function refuseOverlap(
  tx: Transaction,
  path: string,
  exceptId: number | null,
  advice = 'choose another path',
): Promise<void> {
  const other = await findOverlap(tx, path, exceptId)
  if (other === undefined) return
  const how =
    other.path === path ? 'is that of' : other.path.startsWith(`${path}/`) ? 'holds that of' : 'lies in that of'
  throw new AppError('invalid_argument', `The path '${path}' ${how} the project '${other.name}': ${advice}`)
}

/** Recorded for a project that asked for none. */
export async function freePath(tx: Transaction, permalink: string, externalId: string): Promise<string> {
  const [path, marked] = ownPaths(permalink, externalId)
  return (await findOverlap(tx, path, null)) === undefined ? path : marked
}

/** What a project may have been given so. */
export function ownPaths(permalink: string, externalId: string): [path: string, marked: string] {
  return [`/${permalink}`, `/${permalink}-${externalId.slice(-12)}`]
}

const SHOWN = ['name', 'permalink', 'path', 'isActive'] as const

function changesBetween(before: ProjectDetails, after: ProjectDetails): NonNullable<Change['changes']> {
  const changes: NonNullable<Change['changes']> = {}
  for (const member of SHOWN) {
    if (before[member] !== after[member]) changes[member] = { old: before[member], new: after[member] }
  }
  return changes
}
