import { AppError } from '../../platform/errors/app-error.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import { parseBareId } from '../../platform/ids/uuid.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { NoteRef, Project } from '../note/note.ts'
import { foldName } from '../project/project-name.ts'
import { findProjectBy, findProjectFormerly } from '../project/store-projects.ts'
import type { SearchIndex } from '../search/index/search-index.ts'
import { findByNameWords } from '../search/index/store-search-rows.ts'
import { isSameName } from '../text/name/name-key.ts'
import { slug } from '../text/name/slug.ts'
import { type Ask, askedId } from './ask.ts'
import { type ReadIdentifier, readIdentifier } from './read-identifier.ts'
import { resolveAsks } from './resolve-exactly.ts'
import { findByIds } from './store-names.ts'

export interface Question {
  identifier: string
  sourcePath: string | null
  isStrict: boolean
}

export type ResolutionMethod = 'external_id' | 'permalink' | 'title' | 'path' | 'search'

export interface Resolution {
  note: NoteRef
  project: Project
  method: ResolutionMethod
}

const SHOWN_CANDIDATES = 10

/** The first step by itself, in one query: clients that keep ids ask for nothing else. Null when it is no id of a note. */
export async function resolveId(reader: Reader, projectPathId: string, identifier: string) {
  const projectExternalId = parseBareId(projectPathId)
  const externalId = parseBareId(identifier)
  if (projectExternalId === null || externalId === null) return null
  const note = await findByIds(reader, projectExternalId, externalId)
  return note === undefined ? null : { note, method: 'external_id' as const, projectExternalId }
}

/** The note of the project that a text means. A text that begins with the name of another project is no guess of ours. */
export async function resolveIdentifier(
  reader: Reader,
  searchIndex: Pick<SearchIndex, 'caughtUp'>,
  project: Project,
  question: Question,
): Promise<Resolution> {
  const { identifier, isStrict } = question
  const asked = readIdentifier(identifier)
  const ask = { ...asked, sourcePath: question.sourcePath }
  const exact = await exactly(reader, project, ask, question)
  if (exact !== null) return exact
  const other = await otherProject(reader, project, asked)
  if (other !== undefined) {
    throw new AppError(
      'invalid_argument',
      `'${shownId(identifier)}' names a note of the project '${other.name}': ask for it at /links/resolve`,
    )
  }
  const found = isStrict ? null : await byWords(reader, searchIndex, project, ask)
  if (found !== null) return { note: found, project, method: methodOf(found, ask, identifier) }
  throw new AppError('not_found', `Entity not found for identifier '${shownId(identifier)}'`)
}

/** As a link does, which may lead into another project: `project::note`, or `project/note` where no note here has the name. */
export async function resolveLink(
  reader: Reader,
  searchIndex: Pick<SearchIndex, 'caughtUp'>,
  project: Project,
  question: Question,
): Promise<Resolution> {
  const asked = readIdentifier(question.identifier)
  const ask = { ...asked, sourcePath: question.sourcePath }
  const other = await otherProject(reader, project, asked)
  const leaves = asked.namesProject && other !== undefined
  const here = leaves ? { ...ask, target: '', name: '' } : ask
  const exact = await exactly(reader, project, here, question)
  if (exact !== null) return exact
  const there = other ?? project
  const askThere = other === undefined ? ask : withoutProject(asked)
  const exactThere = other === undefined ? null : await exactly(reader, other, askThere, question)
  if (exactThere !== null) return exactThere
  const found = question.isStrict ? null : await byWords(reader, searchIndex, there, askThere)
  if (found !== null) return { note: found, project: there, method: methodOf(found, askThere, question.identifier) }
  throw new AppError('not_found', `Link target not found: no note has the name '${shownId(question.identifier)}'`)
}

async function exactly(
  reader: Reader,
  project: Project,
  ask: Ask,
  { identifier, isStrict }: Question,
): Promise<Resolution | null> {
  const [choice = null] = await resolveAsks(reader, project, [ask], { isStrict })
  if (choice === null) return null
  if ('several' in choice) throw ambiguous(identifier, choice.several)
  return { note: choice.note, project, method: methodOf(choice.note, ask, identifier) }
}

function methodOf(note: NoteRef, ask: Ask, identifier: string): ResolutionMethod {
  if (askedId(ask) === note.external_id) return 'external_id'
  if (isSameName(note.permalink, identifier)) return 'permalink'
  if (isSameName(note.title, identifier)) return 'title'
  return isSameName(note.file_path, identifier) ? 'path' : 'search'
}

function ambiguous(identifier: string, notes: readonly NoteRef[]): AppError {
  const shown = notes
    .slice(0, SHOWN_CANDIDATES)
    .map(({ file_path: path, permalink }) => `${path} (${permalink ?? '-'})`)
  const more = notes.length > shown.length ? `, and ${notes.length - shown.length} more` : ''
  return new AppError(
    'conflict',
    `'${shownId(identifier)}' is the name of several notes: ${shown.join(', ')}${more}; use an external id, a path or a permalink`,
  )
}

/**
 * The other project that the first part of the text names, by its permalink or by its name in any case; where the text can
 * be no path, also by a name it had before.
 */
async function otherProject(
  reader: Reader,
  project: Project,
  { target, namesProject }: Pick<ReadIdentifier, 'target' | 'namesProject'>,
): Promise<Project | undefined> {
  const slash = target.indexOf('/')
  const name = slash <= 0 || slash === target.length - 1 ? '' : target.slice(0, slash).trim()
  const permalink = slug(name)
  if (name === '' || permalink === project.permalink) return undefined
  // `mywork` is no permalink of "MyWork", which is `my-work`, and nothing of an emoji is.
  const other =
    (permalink === '' ? undefined : await findProjectBy(reader, 'permalink', permalink)) ??
    (await findProjectBy(reader, 'name_folded', foldName(name))) ??
    (namesProject && permalink !== '' ? await findProjectFormerly(reader, permalink) : undefined)
  return other?.id === project.id ? undefined : other
}

function withoutProject({ target, name }: { target: string; name: string }): Ask {
  const after = target.indexOf('/') + 1
  return { target: target.slice(after), name: name.slice(after), sourcePath: null }
}

/** Every word must be in a title, path or permalink; a pattern is no name. */
async function byWords(
  reader: Reader,
  searchIndex: Pick<SearchIndex, 'caughtUp'>,
  project: Project,
  { target }: Ask,
): Promise<NoteRef | null> {
  // A file name by itself is no path, but it has the words of one.
  const words = target.replace(/\.md$/i, '')
  if (words === '' || words.includes('*')) return null
  await searchIndex.caughtUp(project)
  const [best] = await findByNameWords(reader, project, words)
  return best ?? null
}
