import { setImmediate as nextTurn } from 'node:timers/promises'
import { isAppError } from '../../platform/errors/app-error.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import { resolveIdentifier } from '../link/resolve-identifier.ts'
import type { Project } from '../note/note.ts'
import { permalinkPrefixes } from '../project/permalink-prefixes.ts'
import { permalinkPages } from '../search/find/permalink-pages.ts'
import { idOfPermalink } from '../search/find/store-search-notes.ts'
import type { SearchIndex } from '../search/index/search-index.ts'
import { type GlobMatcher, starGlob } from '../text/name/glob.ts'
import { permalinkPatterns } from '../text/name/permalink-patterns.ts'
import { namedParts } from './named-parts.ts'
import type { SizedNote } from './primary-items.ts'
import { notesByIds } from './store-context.ts'

/** What a memory address names: a pattern of permalinks, parts of notes, or notes by their numbers, if there are any. */
export type Named = { pattern: string } | { part: string } | { ids: readonly number[] }
export type NamedNotes = Exclude<Named, { part: string }>

/** May wait for the index of words, which nobody should do who holds a snapshot. */
export async function readName(
  db: Database,
  searchIndex: Pick<SearchIndex, 'caughtUp'>,
  project: Project,
  name: string,
): Promise<Named> {
  if (name.includes('*')) return { pattern: name }
  const note = await idOfPermalink(db, project.id, name)
  if (note !== undefined) return { ids: [note] }
  if (await isPart(db, project, name)) return { part: name }
  const id = await resolved(db, searchIndex, project, name)
  return { ids: id === undefined ? [] : [id] }
}

/** A note that is called so comes first, also where the project in front is left out. */
async function isPart(reader: Reader, project: Project, name: string): Promise<boolean> {
  if (!name.includes('/')) return false
  for (const prefix of permalinkPrefixes(project)) {
    if ((await idOfPermalink(reader, project.id, prefix + name)) !== undefined) return false
  }
  return (await namedParts(reader, project, name)).length > 0
}

/**
 * Any number by a pattern, in the order of permalinks; else those that are there, in their order. However
 * old they are: whoever names a note wants it.
 */
export async function* namedNotes(reader: Reader, project: Project, named: NamedNotes): AsyncGenerator<SizedNote[]> {
  if ('pattern' in named) {
    yield* matchingNotes(reader, project, named.pattern)
    return
  }
  if (named.ids.length === 0) return
  const notes = await notesByIds(reader, project.id, named.ids)
  const present = new Map(notes.map((note) => [note.id, note]))
  yield named.ids.flatMap((id) => present.get(id) ?? [])
}

/** As a link is resolved; what names nothing here, or something in another project, is nobody. */
async function resolved(
  reader: Reader,
  searchIndex: Pick<SearchIndex, 'caughtUp'>,
  project: Project,
  name: string,
): Promise<number | undefined> {
  const question = { identifier: name, sourcePath: null, isStrict: false }
  try {
    const { note } = await resolveIdentifier(reader, searchIndex, project, question)
    return note.id
  } catch (error) {
    if (isAppError(error, 'not_found') || isAppError(error, 'invalid_argument')) return undefined
    throw error
  }
}

/** Each note once, although several readings of the pattern may fit it. */
async function* matchingNotes(reader: Reader, project: Project, pattern: string): AsyncGenerator<SizedNote[]> {
  const before: GlobMatcher[] = []
  for (const one of permalinkPatterns(permalinkPrefixes(project), pattern)) {
    const fits = starGlob(one)
    const isNew = (text: string) => fits(text) && !before.some((earlier) => earlier(text))
    yield* matching(reader, project.id, one, isNew)
    before.push(fits)
  }
}

/** Only permalinks that begin like the pattern up to its first star are read. */
async function* matching(
  reader: Reader,
  projectId: number,
  pattern: string,
  isWanted: GlobMatcher,
): AsyncGenerator<SizedNote[]> {
  const begin = pattern.slice(0, pattern.indexOf('*'))
  for await (const rows of permalinkPages(reader, projectId, begin)) {
    yield rows.filter(({ permalink }) => isWanted(permalink))
    await nextTurn()
  }
}
