import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../../platform/storage/database.ts'
import { findExactNames, findNames } from '../../link/store-names.ts'
import type { Project } from '../../note/note.ts'
import { partsBeginning } from '../../note/part-document.ts'
import { together } from '../../note/together.ts'
import { starGlob } from '../../text/name/glob.ts'
import { nameKey } from '../../text/name/name-key.ts'
import type { FilteredNote } from '../filter/passing-notes.ts'
import { type MatchingParts, matchingParts, type PartOwner, type WantedParts } from './matching-parts.ts'
import { permalinkPages } from './permalink-pages.ts'
import { searchedNotes } from './store-search-notes.ts'

export interface PartSearch extends Omit<WantedParts, 'isWanted'> {
  reader: Reader
  project: Project
  /** Whether parts of the note are wanted at all. */
  passes(note: FilteredNote): boolean
  /** No more rows than this are found. */
  limit: number
}

export interface FoundParts {
  /** Rows, by the permalinks of their notes. */
  numbers: number[]
  /** Whether everything was looked at that could match. */
  isWhole: boolean
}

// Whatever the pattern: notes that are looked at, parts of them that are compared, and bytes of texts that are read together.
const MOST_NOTES = 50_000
const MOST_COMPARED = 50_000
const MOST_READ = 1_000_000
// Deeper folders than anybody has.
const MOST_SEGMENTS = 64

/** Observations and relations that are called exactly so. */
export async function findParts(search: PartSearch, permalink: string): Promise<number[]> {
  return (await partsBehind(search, permalink, (other) => other === permalink)).numbers
}

/** Observations and relations by a pattern in which `*` is any text. */
export async function matchParts(search: PartSearch, pattern: string): Promise<FoundParts> {
  const pieces = pattern.split('*')
  const begin = pieces[0] as string
  if (pieces.length === 1) return { numbers: await findParts(search, pattern), isWhole: true }
  const isWanted = starGlob(pattern)
  const first = await partsBehind(search, begin, isWanted)
  const found = new Set(first.numbers)
  let left = MOST_COMPARED - first.compared
  const isEnough = () => left <= 0 || found.size >= search.limit
  let seen = 0
  for await (const batch of permalinkPages(search.reader, search.project.id, begin)) {
    for (const owners of together(batch, MOST_READ)) {
      if (isEnough()) break
      // What they are called by is their permalinks: paths are not looked at.
      const named = owners.map(({ id, permalink }) => ({ id, permalink, file_path: '' }))
      const more = await comparedParts(search, named, isWanted)
      for (const number of more.numbers) found.add(number)
      left -= more.compared
      // Making permalinks takes long where there are many parts, and the event loop has others to serve.
      await nextTurn()
    }
    seen += batch.length
    if (isEnough() || seen >= MOST_NOTES) return { numbers: [...found].slice(0, search.limit), isWhole: false }
  }
  return { numbers: [...found], isWhole: true }
}

/** Of the notes that are called as the beginning is or as some of its first segments are. */
async function partsBehind(search: PartSearch, beginning: string, isWanted: WantedParts['isWanted']) {
  const found: MatchingParts = { numbers: [], compared: 0 }
  // One by one: any of them may be a book.
  for (const owner of await ownersOf(search, beginning)) {
    const { numbers, compared } = await comparedParts(search, [owner], isWanted)
    for (const number of numbers) found.numbers.push(number)
    found.compared += compared
    if (found.compared >= MOST_COMPARED) break
  }
  return found
}

/** Notes of whose parts one may be called so: what such a part is called begins with what its note is called. */
async function ownersOf({ reader, project }: PartSearch, permalink: string): Promise<PartOwner[]> {
  const segments = permalink.split('/', MOST_SEGMENTS)
  const beginnings = segments.map((_, at) => segments.slice(0, at + 1).join('/')).filter((text) => text !== '')
  if (beginnings.length === 0) return []
  // A note without a permalink, or with one in letters of its own, is found by what both have in common.
  const { names } = await findNames(reader, project.id, [...new Set(beginnings.map(nameKey))])
  const exact = await findExactNames(reader, project.id, beginnings)
  const owners = new Map(
    [...exact, ...names].map(({ id, permalink: own, file_path }) => [id, { id, permalink: own, file_path }]),
  )
  return [...owners.values()].filter((owner) => permalink.startsWith(partsBeginning(owner)))
}

async function comparedParts(search: PartSearch, owners: readonly PartOwner[], isWanted: WantedParts['isWanted']) {
  const { reader, project, passes, kinds, categories } = search
  const notes = await searchedNotes(
    reader,
    project.id,
    owners.map(({ id }) => id),
  )
  const passing = owners.filter(({ id }) => {
    const note = notes.get(id)
    return note !== undefined && passes(note)
  })
  return matchingParts(reader, passing, { kinds, categories, isWanted })
}
