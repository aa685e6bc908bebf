import { AppError } from '../../platform/errors/app-error.ts'
import type { Transaction } from '../../platform/storage/database.ts'
import { type FoundNames, findExactNames, findNames } from '../link/store-names.ts'
import { NAME_KINDS } from '../tables.ts'
import { areTwins, isSameName, nameKey, unicodeSpellings } from '../text/name/name-key.ts'
import { withEnding } from '../text/name/slug.ts'
import type { NoteRef, Project } from './note.ts'
import { permalinksTaken } from './store-notes.ts'

export interface WantedPlace {
  filePath: string
  /** Null for a note that has none. */
  permalink: string | null
  /** Of the note itself, which is in nobody's way. */
  ownId?: number
}

export interface KeyedPlace extends WantedPlace {
  /** What `placeKeys` says of it. */
  keys: readonly string[]
}

const SUFFIXES_AT_A_TIME = 64

/** The permalink that the note may have, suffixed where another has it. Throws `conflict` when the path is not free. */
export async function claimPlace(tx: Transaction, project: Project, place: WantedPlace): Promise<string | null> {
  const keys = placeKeys(place)
  return claimAmong(tx, project, { ...place, keys }, await findNames(tx, project.id, keys))
}

/** The keys under which whoever is in the way is found. */
export function placeKeys({ filePath, permalink }: WantedPlace): string[] {
  return permalink === null ? [nameKey(filePath)] : [nameKey(filePath), nameKey(permalink)]
}

/** The same for a caller who has looked up the names under these keys, and perhaps under others. */
export async function claimAmong(
  tx: Transaction,
  project: Project,
  place: KeyedPlace,
  found: FoundNames,
): Promise<string | null> {
  const { filePath, permalink, ownId } = place
  const near = namesakes(place, found)
  const exact = found.isCrowded ? await findExactNames(tx, project.id, literalNames(place)) : []
  const others = [...exact, ...near].filter(({ id }) => id !== ownId)
  if (others.length === 0) return permalink
  refuseOccupied(filePath, others)
  if (permalink === null || !others.some((other) => isSameName(other.permalink, permalink))) return permalink
  // The suffixed one that the note has already stays: to say the same twice changes nothing.
  return freePermalink(tx, project, permalink, ownId ?? 0)
}

/** All notes with that path or permalink or one that is spelled nearly so, unless very many share the name. */
function namesakes({ keys }: KeyedPlace, { names }: FoundNames): NoteRef[] {
  return names.filter(({ kind, key }) => kind === NAME_KINDS.current && keys.includes(key))
}

function literalNames({ filePath, permalink }: WantedPlace): string[] {
  return permalink === null ? [filePath] : [filePath, ...unicodeSpellings(permalink)]
}

function refuseOccupied(filePath: string, others: readonly NoteRef[]): void {
  if (others.some((other) => other.file_path === filePath)) {
    throw new AppError('conflict', `A note already exists at '${filePath}': edit it, replace it or delete it first`)
  }
  const paths = new Set(others.map((other) => other.file_path))
  const twins = [...paths].filter((path) => areTwins(path, filePath)).map((path) => `'${path}'`)
  if (twins.length === 0) return
  throw new AppError(
    'conflict',
    `'${filePath}' differs from what already exists only in spelling: ${twins.join(', ')}; edit that note or choose another name`,
  )
}

async function freePermalink(tx: Transaction, project: Project, wanted: string, ownId: number): Promise<string> {
  for (let first = 1; ; first += SUFFIXES_AT_A_TIME) {
    const candidates = Array.from({ length: SUFFIXES_AT_A_TIME }, (_, index) => withEnding(wanted, `-${first + index}`))
    const taken = await permalinksTaken(tx, project.id, candidates.flatMap(unicodeSpellings), ownId)
    const free = candidates.find((candidate) => !unicodeSpellings(candidate).some((spelled) => taken.has(spelled)))
    if (free !== undefined) return free
  }
}
