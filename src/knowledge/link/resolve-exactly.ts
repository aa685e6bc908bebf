import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../platform/storage/database.ts'
import type { NoteRef, Project } from '../note/note.ts'
import { type Ask, anchorOf, askedId, askedKeys, askOfLink, literalNames } from './ask.ts'
import { namesOf } from './names.ts'
import { type Choice, type ChooseOptions, choose, namesWith } from './resolver.ts'
import { type FoundNames, findExactNames, findExternalIds, findNames, type NamedNote } from './store-names.ts'

export interface ResolveOptions extends ChooseOptions {
  found?: FoundLinkNames | undefined
  /** Gives others their turn; a transaction has its own way. */
  breathe?: () => Promise<unknown>
}

/** What is known already of the names that the links of a note can mean. */
export interface FoundLinkNames extends FoundNames {
  /** Of each link. */
  keys: readonly (readonly string[])[]
}

// Few enough that their notes, one or two each, are not taken for a crowd.
const AT_ONCE = 250
// Names that many notes have are compared with each of the links.
const COMPARED_AT_ONCE = 5_000

/** For each link of a note the keys of all names that it can mean; none of so many that they are looked up by and by. */
export function linkKeys(
  project: Project,
  sourcePath: string,
  links: readonly { target: string; name: string }[],
): string[][] {
  if (links.length > AT_ONCE) return []
  return links.map((link) => askedKeys(project, askOfLink(link, sourcePath)))
}

/** What the texts mean, in their order; null where no note has the name. As many queries for hundreds of texts as for one. */
export function resolveAsks(
  reader: Reader,
  project: Project,
  asks: readonly Ask[],
  options: ResolveOptions = {},
): Promise<Choice[]> {
  return (asks.length <= AT_ONCE ? resolveSome : resolveByAndBy)(reader, project, asks, options)
}

async function resolveByAndBy(
  reader: Reader,
  project: Project,
  asks: readonly Ask[],
  options: ResolveOptions,
): Promise<Choice[]> {
  const choices: Choice[] = []
  for (let start = 0; start < asks.length; start += AT_ONCE) {
    choices.push(
      ...(await resolveSome(reader, project, asks.slice(start, start + AT_ONCE), { ...options, found: undefined })),
    )
  }
  return choices
}

async function resolveSome(
  reader: Reader,
  project: Project,
  asks: readonly Ask[],
  { found, breathe = () => nextTurn(), ...options }: ResolveOptions,
): Promise<Choice[]> {
  const ids = asks.map(askedId).filter((id) => id !== null)
  const byId = ids.length === 0 ? undefined : await notesWithIds(reader, project, ids)
  const [only] = asks
  const known = only === undefined || asks.length > 1 ? undefined : byId?.get(askedId(only) ?? '')
  if (only !== undefined && known !== undefined) return [{ note: known, anchor: anchorOf(only) }]
  const keys = found?.keys ?? asks.map((ask) => askedKeys(project, ask))
  const { names, isCrowded } = found ?? (await findNames(reader, project.id, keys.flat()))
  const index = indexByKey(names)
  if (isCrowded) await addLiteralNames(reader, project, asks, index)
  const choices: Choice[] = []
  let compared = 0
  for (const [at, ask] of asks.entries()) {
    const note = byId?.get(askedId(ask) ?? '')
    const near = note === undefined ? namesWith(index, keys[at] ?? []) : []
    choices.push(note === undefined ? choose(project, ask, near, options) : { note, anchor: anchorOf(ask) })
    compared += near.length
    if (compared < COMPARED_AT_ONCE) continue
    compared = 0
    await breathe()
  }
  return choices
}

async function notesWithIds(reader: Reader, project: Project, ids: readonly string[]): Promise<Map<string, NoteRef>> {
  return new Map((await findExternalIds(reader, project.id, ids)).map((note) => [note.external_id, note]))
}

/**
 * Where very many notes have one name, `findNames` leaves some out. Those whose path or permalink was written literally
 * and those of the same name in the folders around are not among them; "nearest" is decided between these and the oldest.
 */
async function addLiteralNames(
  reader: Reader,
  project: Project,
  asks: readonly Ask[],
  index: Map<string, NamedNote[]>,
): Promise<void> {
  const literal = new Set(asks.flatMap((ask) => literalNames(project, ask)))
  for (const note of await findExactNames(reader, project.id, [...literal])) {
    for (const name of namesOf(note, [])) add(index, { ...note, ...name })
  }
}

function indexByKey(names: readonly NamedNote[]): Map<string, NamedNote[]> {
  const index = new Map<string, NamedNote[]>()
  for (const name of names) add(index, name)
  return index
}

function add(index: Map<string, NamedNote[]>, name: NamedNote): void {
  const list = index.get(name.key)
  if (list === undefined) index.set(name.key, [name])
  else list.push(name)
}
