import type { Transaction } from '../../platform/storage/database.ts'
import type { Note, NoteRef, Project } from '../note/note.ts'
import { touchNotes } from '../note/note-cache.ts'
import { permalinkPrefixes } from '../project/permalink-prefixes.ts'
import { NAME_KINDS } from '../tables.ts'
import { divideAtFirst } from '../text/body/anchors.ts'
import type { ParsedLink } from '../text/body/parse-body.ts'
import { withSlash } from '../text/body/wikilinks.ts'
import { nameKey } from '../text/name/name-key.ts'
import { folderOf } from '../text/name/path.ts'
import { slug } from '../text/name/slug.ts'
import { inTurns, type Steps } from '../text/steps.ts'
import { type Ask, askedId, askedKeys, askOf, askOfLink, isFromHere, targetKey, withoutScheme } from './ask.ts'
import type { NameRow } from './names.ts'
import { type FoundLinkNames, resolveAsks } from './resolve-exactly.ts'
import { type Choice, choose, namesWith } from './resolver.ts'
import { type Binding, RelationBinder, unbindRelations } from './store-bindings.ts'
import type { NamedNote } from './store-names.ts'
import {
  boundRelations,
  deleteRelations,
  insertRelations,
  isSameRelation,
  MOST_OUTGOING,
  RELATIONS_AT_ONCE,
  type RelationOwner,
  type RelationRow,
  type RelationsOfNote,
  type RelationView,
  storedRelations,
  viewOf,
} from './store-relations.ts'
import {
  ownWaitingRelations,
  relationsTo,
  WAITING_AT_ONCE,
  type WaitingBy,
  type WaitingRelation,
  waitingRelations,
} from './store-waiting-relations.ts'

/**
 * The links of the text as it is now, each bound to the note that it names; answers what is shown of them. The names of
 * the note must stand already.
 */
export async function replaceRelations(
  tx: Transaction,
  project: Project,
  note: Note,
  links: readonly ParsedLink[],
  { isNew, found }: { isNew: boolean; found?: FoundLinkNames | undefined },
): Promise<RelationsOfNote> {
  const sourcePath = note.file_path
  const asks = links.map((link) => askOfLink(link, sourcePath))
  // Neither needs the other: PostgreSQL is asked for both at once.
  const [named, stored] = await Promise.all([
    links.length === 0 ? [] : resolveAsks(tx, project, asks, { found, breathe: () => tx.breathe() }),
    isNew ? [] : storedRelations(tx, note.id, -1),
  ])
  const choices = isNew ? named : await keepBound(tx, note.id, links, named, stored)
  const targets = choices.map((choice) => (choice !== null && 'note' in choice ? choice.note : null))
  const rows = await inTurns(rowsOf(note, links, choices, found?.keys ?? []), () => tx.breathe())
  // Whoever appends a line changes no link before it.
  const first = isNew ? 0 : await dropFromFirstDifference(tx, note.id, rows, stored)
  await insertRelations(tx, note, first === 0 ? rows : rows.slice(first))
  touchNotes(tx, [note.id, ...targets.flatMap((target) => (target === null ? [] : [target.id]))])
  return views(note, rows, targets)
}

/**
 * A link that names nothing any more, as one relative to a folder that its note has left, goes on leading to the note that it is
 * bound to: an edit takes no edge away whose link it leaves.
 */
async function keepBound(
  tx: Transaction,
  noteId: number,
  links: readonly ParsedLink[],
  choices: readonly Choice[],
  firstStored: readonly RelationRow[],
): Promise<readonly Choice[]> {
  const lost = new Set(links.filter((_link, at) => choices[at] === null).map(({ name }) => name))
  if (lost.size === 0) return choices
  const isBound = firstStored.some(({ to_id: to, to_name: name }) => to !== null && lost.has(name))
  if (!isBound && firstStored.length < RELATIONS_AT_ONCE) return choices
  const kept = new Map<string, Choice>()
  let position: number | undefined = -1
  while (position !== undefined) {
    const bound = await boundRelations(tx, noteId, position)
    for (const { to_name: name, anchor, ...note } of bound) if (lost.has(name)) kept.set(name, { note, anchor })
    position = bound.length < RELATIONS_AT_ONCE ? undefined : bound.at(-1)?.position
  }
  return choices.map((choice, at) => choice ?? kept.get(links[at]?.name ?? '') ?? null)
}

/** How many of the rows are stored already, the first of which are given; what is stored behind them is gone. */
async function dropFromFirstDifference(
  tx: Transaction,
  noteId: number,
  rows: readonly RelationRow[],
  firstStored: readonly RelationRow[],
): Promise<number> {
  for (let first = 0; ; first += RELATIONS_AT_ONCE) {
    const stored = first === 0 ? firstStored : await storedRelations(tx, noteId, first - 1)
    const differs = stored.findIndex(
      (row, at) => rows[first + at] === undefined || !isSameRelation(row, rows[first + at] as RelationRow),
    )
    if (differs !== -1) {
      await deleteRelations(tx, noteId, (stored[differs] as RelationRow).position)
      return first + differs
    }
    if (stored.length < RELATIONS_AT_ONCE) return first + stored.length
  }
}

function views(from: NoteRef, rows: readonly RelationRow[], targets: readonly (NoteRef | null)[]): RelationsOfNote {
  const relations: RelationView[] = []
  for (const [at, row] of rows.entries()) {
    if (row.is_repeat === 1) continue
    if (relations.length === MOST_OUTGOING) return { relations, isTruncated: true }
    relations.push(viewOf(row, 'outgoing', from, targets[at] ?? null))
  }
  return { relations, isTruncated: false }
}

type OwnedRow = RelationRow & RelationOwner

function* rowsOf(
  note: Note,
  links: readonly ParsedLink[],
  choices: readonly Choice[],
  keys: FoundLinkNames['keys'],
): Steps<OwnedRow[]> {
  const seen = new Set<string>()
  const rows: OwnedRow[] = []
  for (const [position, link] of links.entries()) {
    const key = keys[position]?.[0] ?? targetKey(withoutScheme(link.target))
    rows.push(toRow(note, link, { position, key, choice: choices[position] ?? null, seen }))
    yield
  }
  return rows
}

interface LinkPlace {
  position: number
  /** Of its target. */
  key: string
  choice: Choice
  /** Where the links before it lead to, and as what. */
  seen: Set<string>
}

function toRow(note: Note, link: ParsedLink, { position, key, choice, seen }: LinkPlace): OwnedRow {
  const { type, target, name, display, context } = link
  const { toId, anchor } =
    choice !== null && 'note' in choice
      ? { toId: choice.note.id, anchor: choice.anchor }
      : { toId: null, anchor: link.anchor }
  const edge = toId === null ? null : `${toId} ${type}`
  const isRepeat = edge !== null && seen.has(edge)
  if (edge !== null) seen.add(edge)
  return {
    from_id: note.id,
    project_id: note.project_id,
    position,
    relation_type: type,
    to_id: toId,
    is_repeat: isRepeat ? 1 : 0,
    to_name: name,
    anchor,
    display,
    context,
    target_key: key,
    whole_key: name === target ? null : nameKey(withoutScheme(name)),
  }
}

/**
 * Binds the relations of the project that waited for a note of one of these names, now that this is the note they mean.
 * False when none can have waited.
 */
export async function bindForwardReferences(
  tx: Transaction,
  project: Project,
  note: Note,
  names: readonly NameRow[],
): Promise<boolean> {
  const waited: Waited[] = [{ by: 'target_key', keys: waitedKeys(project, note, names) }]
  const parts = waitedPartKeys(note, names)
  // Only a name with a "#" in it can be a text with an anchor.
  if (parts.length > 0) {
    const keys = [...new Set([...names.map(({ key }) => key), ...textsWithHash(note, names).map(nameKey)])]
    waited.push({ by: 'whole_key', keys }, { by: 'part_key', keys: parts })
  }
  let mayHaveWaited = false
  for (const each of waited) mayHaveWaited = (await bindWaiting(tx, project, { note, names }, each)) || mayHaveWaited
  return mayHaveWaited
}

/** A part of "F# intro" waits as a part of "F". */
export function waitedPartKeys(note: NoteRef, names: readonly NameRow[]): string[] {
  const hashed = textsWithHash(note, names)
  return [...new Set(hashed.map((text) => nameKey(text.slice(0, text.indexOf('#')).trimEnd())))]
}

function textsWithHash(note: NoteRef, names: readonly NameRow[]): string[] {
  const texts = [note.title, note.permalink ?? '', note.file_path, ...names.map(({ value }) => value)]
  return texts.map(withoutScheme).filter((text) => text.includes('#'))
}

/** The keys of all texts that could name the note, from whatever folder. */
export function waitedKeys(project: Project, note: NoteRef, names: readonly NameRow[]): string[] {
  const prefixes = permalinkPrefixes(project)
  // Else it has the key of one of those.
  if (slug(project.name) === '') prefixes.push(`${project.name}/`)
  const keys = new Set(names.map(({ key }) => key))
  keys.add(nameKey(note.external_id))
  const aliases = names.map(({ value }) => value).filter((value) => value !== '')
  const ask = (text: string) => {
    const behindScheme = withoutScheme(text)
    if (isFromHere(behindScheme) || behindScheme !== text) keys.add(targetKey(behindScheme))
    for (const prefix of prefixes) {
      keys.add(nameKey(prefix + text))
      // `std::vector` is asked for as `std/vector`, behind the name of the project, too.
      if (text.includes('::')) keys.add(nameKey(prefix + withSlash(text)))
    }
  }
  for (const text of [note.title, note.file_path, ...aliases]) ask(text)
  const permalinks = retired(names, NAME_KINDS.retiredPermalink)
  if (note.permalink !== null) permalinks.push(note.permalink)
  for (const permalink of permalinks) {
    ask(permalink)
    for (const prefix of prefixes) {
      if (permalink.startsWith(prefix)) keys.add(nameKey(permalink.slice(prefix.length)))
    }
  }
  for (const whole of [note.file_path, ...retired(names, NAME_KINDS.retiredPath)]) {
    for (let path = withoutFirstFolder(whole); path !== ''; path = withoutFirstFolder(path)) keys.add(nameKey(path))
  }
  return [...keys]
}

function retired(names: readonly NameRow[], wanted: number): string[] {
  return names.filter(({ kind }) => kind === wanted).map(({ value }) => value)
}

function withoutFirstFolder(path: string): string {
  const slash = path.indexOf('/')
  return slash < 0 ? '' : path.slice(slash + 1)
}

const GROUPS_AT_ONCE = 100

interface Waited {
  by: WaitingBy
  keys: readonly string[]
}

async function bindWaiting(
  tx: Transaction,
  project: Project,
  { note, names }: { note: Note; names: readonly NameRow[] },
  { by, keys }: Waited,
): Promise<boolean> {
  const lists = await waitingRelations(tx, project.id, by, keys)
  if (lists === null) return false
  const means = meansNote(project, note, names)
  const binder = new RelationBinder(tx)
  for await (const waiting of lists) {
    const possible: WaitingRelation[] = []
    for (const [at, group] of alikeRelations(waiting).entries()) {
      if (means(askOf(group[0]))) possible.push(...group)
      if ((at + 1) % GROUPS_AT_ONCE === 0) await tx.breathe()
    }
    const found = await bindingsFor(tx, project, possible)
    await binder.bind(found.filter(({ to_id }) => to_id === note.id))
  }
  await binder.end()
  return true
}

/** Whether a text would mean the note if there were no other. */
function meansNote(project: Project, note: Note, names: readonly NameRow[]): (ask: Ask) => boolean {
  const index = Map.groupBy(
    names.map((name): NamedNote => ({ ...note, ...name })),
    ({ key }) => key,
  )
  return (ask) =>
    askedId(ask) === note.external_id || choose(project, ask, namesWith(index, askedKeys(project, ask))) !== null
}

/** Binds what waits in the note itself: from another folder its links may mean something else. */
export async function bindOwnLinks(tx: Transaction, project: Project, note: Note): Promise<void> {
  const binder = new RelationBinder(tx)
  for (let position: number | undefined = -1; position !== undefined; ) {
    const waiting = await ownWaitingRelations(tx, note.id, position)
    await binder.bind(await bindingsFor(tx, project, waiting))
    position = waiting.length < WAITING_AT_ONCE ? undefined : waiting.at(-1)?.position
  }
  await binder.end()
}

async function bindingsFor(
  tx: Transaction,
  project: Project,
  relations: readonly WaitingRelation[],
): Promise<Binding[]> {
  if (relations.length === 0) return []
  const groups = alikeRelations(relations)
  const choices = await resolveAsks(
    tx,
    project,
    groups.map(([relation]) => askOf(relation)),
    { breathe: () => tx.breathe() },
  )
  return groups.flatMap((group, at) => {
    const choice = choices[at] ?? null
    if (choice === null || !('note' in choice)) return []
    const { note, anchor } = choice
    return group.map(({ from_id, position }) => ({ from_id, position, to_id: note.id, anchor }))
  })
}

/** Many notes wait for one name, and what it means depends on their folder alone. */
function alikeRelations(relations: readonly WaitingRelation[]) {
  const groups = Map.groupBy(relations, ({ to_name, source_path }) => `${folderOf(source_path)}\n${to_name}`)
  return [...groups.values()] as [WaitingRelation, ...WaitingRelation[]][]
}

/**
 * For a note that is gone: relations to it go to another note that their text means as well, and wait for one with the
 * name where there is none.
 */
export async function unbind(tx: Transaction, project: Project, noteId: number): Promise<void> {
  const binder = new RelationBinder(tx)
  let after = { from_id: 0, position: -1 }
  for (;;) {
    const bound = await relationsTo(tx, noteId, after)
    const last = bound.at(-1)
    if (last === undefined && after.from_id === 0) return
    const found = await bindingsFor(tx, project, bound)
    await binder.bind([...found, ...waitingAnchors(bound, found, noteId)])
    if (last === undefined || bound.length < WAITING_AT_ONCE) break
    after = last
  }
  await binder.end()
  await unbindRelations(tx, noteId)
}

/** While no note has the name, everything behind the first "#" is shown as the anchor. */
function waitingAnchors(relations: readonly WaitingRelation[], found: readonly Binding[], noteId: number): Binding[] {
  const outdated = relations.flatMap(({ from_id, position, to_name, anchor: bound }) => {
    const { anchor } = divideAtFirst(to_name)
    return anchor === bound ? [] : [{ from_id, position, to_id: noteId, anchor }]
  })
  if (outdated.length === 0) return []
  const isFound = new Set(found.map(({ from_id, position }) => `${from_id} ${position}`))
  return outdated.filter(({ from_id, position }) => !isFound.has(`${from_id} ${position}`))
}
