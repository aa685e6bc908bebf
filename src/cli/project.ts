import { Command } from 'commander'
import {
  DeletedProjects,
  foldName,
  type ListedProject,
  ProjectService,
  purgeProject,
  resolveProject,
} from '../knowledge/index.ts'
import type { Principal } from '../platform/auth/principal.ts'
import { toRfc3339 } from '../platform/clock/clock.ts'
import { AppError } from '../platform/errors/app-error.ts'
import { parseBareId } from '../platform/ids/uuid.ts'
import { findOperator } from '../users/index.ts'
import { printJson } from './print-json.ts'
import { printTable } from './print-table.ts'
import { Progress } from './progress.ts'
import { withStorageFlags } from './settings-options.ts'
import { type CliContext, withDatabase } from './with-database.ts'

const PROJECT = 'id, permalink or name of the project'

/** If this process dies half-way, a server goes on after that long. */
const SERVER_GOES_ON_MS = 10 * 60_000

export function projectCommand(): Command {
  return new Command('project')
    .description('create, list and delete projects, and choose the default one')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(setDefaultCommand())
    .addCommand(deleteCommand())
    .addCommand(restoreCommand())
}

function createCommand(): Command {
  return withStorageFlags(new Command('create'))
    .description('create a project; the first one becomes the default')
    .argument('<name>', 'its name, unique whatever the case')
    .option('--path <path>', 'a path to record with it')
    .option('--default', 'make it the default project')
    .option('--json', 'answer as JSON')
    .action(async (name: string, options: { path?: string; default?: boolean; json?: boolean }, command: Command) => {
      await withProjects(command, async ({ principal, projects }) => {
        const input = { name, path: options.path, setDefault: options.default }
        const { after, changed } = await projects.create(principal, input)
        const project = after as ListedProject
        if (options.json) return printJson({ ...toJson(project), created: changed })
        const what = changed ? 'created' : 'there was already'
        console.log(
          `${what} ${project.name} (${project.externalId})${project.isDefault ? ', the default project' : ''}`,
        )
      })
    })
}

function listCommand(): Command {
  return withStorageFlags(new Command('list'))
    .description('list projects, oldest first')
    .option('--deleted', 'those that were deleted and can still be restored')
    .option('--json', 'answer as JSON')
    .action(async (options: { deleted?: boolean; json?: boolean }, command: Command) => {
      await withProjects(command, async ({ projects, deleted }) => {
        if (options.deleted) return listDeleted(deleted, options.json === true)
        const list = await projects.list()
        if (options.json) return printJson(list.map(toJson))
        printTable(
          ['NAME', 'NOTES', 'DEFAULT', 'PERMALINK', 'ID'],
          list.map((project) => [
            project.name,
            String(project.noteCount),
            project.isDefault ? 'yes' : '-',
            project.permalink,
            project.externalId,
          ]),
        )
      })
    })
}

async function listDeleted(deleted: DeletedProjects, asJson: boolean): Promise<void> {
  const list = (await deleted.list()).map(({ externalId, name, deletedAt }) => {
    return { id: externalId, name, deleted_at: toRfc3339(deletedAt) }
  })
  if (asJson) return printJson(list)
  printTable(
    ['NAME', 'DELETED', 'ID'],
    list.map((project) => [project.name, project.deleted_at, project.id]),
  )
}

function setDefaultCommand(): Command {
  return withStorageFlags(new Command('set-default'))
    .description('make a project the one that is used where none is named')
    .argument('<project>', PROJECT)
    .option('--json', 'answer as JSON')
    .action(async (text: string, options: { json?: boolean }, command: Command) => {
      await withProjects(command, async ({ db, principal, projects }) => {
        const { project } = await resolveProject(db, text)
        const { changed } = await projects.setDefault(principal, project.externalId)
        if (options.json) return printJson({ id: project.externalId, name: project.name, changed })
        console.log(`${project.name} ${changed ? 'is now' : 'was already'} the default project`)
      })
    })
}

function deleteCommand(): Command {
  return withStorageFlags(new Command('delete'))
    .description('delete a project and its notes; it can be restored for 30 days')
    .argument('<project>', PROJECT)
    .option('--delete-notes', 'take the notes away now, for good')
    .option('--json', 'answer as JSON')
    .action(async (text: string, options: { deleteNotes?: boolean; json?: boolean }, command: Command) => {
      await withProjects(command, async ({ db, clock, principal, deleted }) => {
        const { project } = await resolveProject(db, text)
        const deleteNotes = options.deleteNotes === true
        const deletion = { pathId: project.externalId, deleteNotes, purgeInMs: SERVER_GOES_ON_MS }
        const { before, purge } = await deleted.delete(principal, deletion)
        const total = (before as ListedProject).noteCount
        if (deleteNotes) {
          const progress = new Progress(clock)
          const onProgress = (notes: number) => {
            if (notes > 0) progress.report('deleting notes', notes, total)
          }
          await purgeProject({ db, onProgress }, purge)
          progress.end()
        }
        if (options.json) return printJson({ id: project.externalId, name: project.name, notes: total })
        console.log(`deleted ${project.name} with ${total} ${total === 1 ? 'note' : 'notes'}`)
        if (!deleteNotes) console.log(`to bring it back: commonplace project restore ${project.externalId}`)
      })
    })
}

function restoreCommand(): Command {
  return withStorageFlags(new Command('restore'))
    .description('bring a deleted project back, with its notes')
    .argument('<project>', 'its id, as "project list --deleted" shows it, or the name it had')
    .option('--name <name>', 'another name, where the old one is taken')
    .option('--json', 'answer as JSON')
    .action(async (text: string, options: { name?: string; json?: boolean }, command: Command) => {
      await withProjects(command, async ({ principal, deleted }) => {
        const { after } = await deleted.restore(principal, await deletedId(deleted, text), options.name)
        const project = after as ListedProject
        if (options.json) return printJson(toJson(project))
        console.log(`restored ${project.name} (${project.externalId})`)
      })
    })
}

/** By name, in any case, only where one deleted project had it: several of them differ by their ids. */
async function deletedId(deleted: DeletedProjects, text: string): Promise<string> {
  const id = parseBareId(text.trim())
  if (id !== null) return id
  const named = (await deleted.list()).filter(({ name }) => foldName(name) === foldName(text))
  const [first, ...others] = named.map(({ externalId }) => externalId)
  if (first === undefined)
    throw new AppError('not_found', `No deleted project was called "${text}": see "project list --deleted"`)
  if (others.length === 0) return first
  const ids = [first, ...others].join(', ')
  throw new AppError('invalid_argument', `Several deleted projects were called "${text}": name one by its id, ${ids}`)
}

interface ProjectsContext extends CliContext {
  principal: Principal
  projects: ProjectService
  deleted: DeletedProjects
}

function withProjects<T>(command: Command, work: (context: ProjectsContext) => Promise<T>): Promise<T> {
  return withDatabase(command, async (context) => {
    const principal = await findOperator(context.db)
    return work({ ...context, principal, projects: new ProjectService(context), deleted: new DeletedProjects(context) })
  })
}

function toJson(project: ListedProject) {
  return {
    id: project.externalId,
    name: project.name,
    permalink: project.permalink,
    path: project.path,
    is_default: project.isDefault,
    is_active: project.isActive,
    note_count: project.noteCount,
    created_at: toRfc3339(project.createdAt),
  }
}
