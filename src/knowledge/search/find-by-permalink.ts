import type { Reader } from '../../platform/storage/database.ts'
import { starGlob } from '../directory/glob.ts'
import type { Project } from '../note/note.ts'
import { idOfPermalink, permalinksWith } from './store-search-notes.ts'

const BATCH = 1_000
const LAST = '\u{10ffff}'

/** The note that is called exactly so; the project in front may be left out. */
export async function findPermalink(reader: Reader, project: Project, permalink: string): Promise<number[]> {
  const id =
    (await idOfPermalink(reader, project.id, permalink)) ??
    (await idOfPermalink(reader, project.id, `${project.permalink}/${permalink}`))
  return id === undefined ? [] : [id]
}

/** Notes by a pattern in which `*` is any text, in the order of their permalinks; no more than the limit. */
export async function matchPermalinks(
  reader: Reader,
  project: Project,
  pattern: string,
  limit: number,
): Promise<number[]> {
  const found = await matching(reader, project.id, pattern, limit)
  const begin = `${project.permalink}/`
  if (pattern.startsWith(begin) || pattern.startsWith('*')) return found
  const inProject = await matching(reader, project.id, `${begin}${pattern}`, limit)
  return [...new Set([...found, ...inProject])].slice(0, limit)
}

/** Only permalinks that begin like the pattern are read, and of these only those with its longest piece are compared. */
async function matching(reader: Reader, projectId: number, pattern: string, limit: number): Promise<number[]> {
  const pieces = pattern.split('*')
  const begin = pieces[0] ?? ''
  const part = pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '')
  const isWanted = starGlob(pattern)
  const found: number[] = []
  for (let from = begin; ; ) {
    const rows = await permalinksWith(reader, { projectId, from, to: `${begin}${LAST}`, part, limit: BATCH })
    for (const { id, permalink } of rows) if (isWanted(permalink)) found.push(id)
    const last = rows.at(-1)?.permalink
    if (rows.length < BATCH || last === undefined || found.length >= limit) return found.slice(0, limit)
    // The least text behind it: no permalink holds such a character.
    from = `${last}\u0001`
  }
}
