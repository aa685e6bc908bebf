import type { Transaction } from '../../platform/storage/database.ts'
import type { Note, Project } from '../note/note.ts'
import { NAME_KINDS } from '../tables.ts'
import { withSlash } from '../text/body/wikilinks.ts'
import { nameKey } from '../text/name/name-key.ts'
import { deleteNames, deleteOtherNames, insertNames, type NameRow } from './store-names.ts'

export type { NameRow } from './store-names.ts'

export type Named = Pick<Note, 'title' | 'permalink' | 'file_path'>

export interface NamedVersion {
  note: Note
  aliases: readonly string[]
}

// Keys and values stand together in an index, and PostgreSQL holds at most 2,704 bytes in an entry of it.
const LONGEST_VALUE = 500
const MOST_ALIASES = 1000

/** What a note is called now: by path, permalink, title and aliases. Names beyond the limits are not looked up by. */
export function namesOf(note: Named, aliases: readonly string[]): NameRow[] {
  const keys = new Set([nameKey(note.file_path), ...keysOf(note.title), ...keysOf(note.permalink ?? note.title)])
  const names: NameRow[] = []
  for (const key of keys) names.push({ key, kind: NAME_KINDS.current, value: '' })
  if (aliases.length === 0) return names
  for (const value of new Set(aliases.slice(0, MOST_ALIASES))) {
    if (isKept(value)) names.push(...namesFor(NAME_KINDS.alias, value))
  }
  return names
}

/**
 * Makes the note found by what it is called now and what it was called in the past, which is answered. Must come before
 * the relations of the note are bound: it may link to itself.
 */
export async function addNames(
  tx: Transaction,
  project: Project,
  { note, aliases }: NamedVersion,
  past: readonly Named[] = [],
): Promise<NameRow[]> {
  const names = namesOf(note, aliases)
  if (past.length > 0) names.push(...formerNames(past, note))
  await insertNames(tx, { projectId: project.id, noteId: note.id }, names)
  return names
}

/** The same for a note that had other names, by which it is still found. */
export async function replaceNames(
  tx: Transaction,
  project: Project,
  before: NamedVersion,
  after: NamedVersion,
): Promise<NameRow[]> {
  const owner = { projectId: project.id, noteId: after.note.id }
  const now = namesOf(after.note, after.aliases)
  const old = namesOf(before.note, before.aliases)
  await deleteNames(tx, owner, [...without(old, now), ...revivedNames(before.note, after.note)])
  await insertNames(tx, owner, [...without(now, old), ...retiredNames(before.note, after.note)])
  return now
}

/** All names of the note, retired ones included. */
export async function dropNames(
  tx: Transaction,
  project: Project,
  note: Note,
  aliases: readonly string[],
): Promise<void> {
  await deleteNames(tx, { projectId: project.id, noteId: note.id }, namesOf(note, aliases))
  await deleteOtherNames(tx, note.id)
}

function without(names: readonly NameRow[], others: readonly NameRow[]): NameRow[] {
  const known = new Set(others.map(identity))
  return names.filter((name) => !known.has(identity(name)))
}

function identity({ key, kind, value }: NameRow): string {
  return `${kind} ${key}\n${value}`
}

/** Each once, however many versions had it. */
function formerNames(past: readonly Named[], now: Named): NameRow[] {
  const names = past.flatMap((before) => retiredNames(before, now))
  return [...new Map(names.map((name) => [identity(name), name])).values()]
}

/** What the note was called before and is called no longer. */
function retiredNames(before: Named, after: Named): NameRow[] {
  const names: NameRow[] = []
  for (const [kind, old, current] of retirable(before, after)) {
    if (old !== null && old !== current && isKept(old)) names.push(...namesFor(kind, old))
  }
  return names
}

/** Retired names that are in use again, whether they were ever retired or not. */
function revivedNames(before: Named, after: Named): NameRow[] {
  const names: NameRow[] = []
  for (const [kind, old, current] of retirable(before, after)) {
    if (current !== null && old !== current) names.push(...namesFor(kind, current))
  }
  return names
}

function retirable(before: Named, after: Named): [kind: number, old: string | null, current: string | null][] {
  return [
    [NAME_KINDS.retiredPermalink, before.permalink, after.permalink],
    [NAME_KINDS.retiredPath, before.file_path, after.file_path],
    [NAME_KINDS.retiredTitle, before.title, after.title],
  ]
}

function namesFor(kind: number, value: string): NameRow[] {
  return keysOf(value).map((key) => ({ key, kind, value }))
}

/** Nobody knows of a link to `std::vector` whether it names a project, so it is asked for as `std/vector`. */
function keysOf(name: string): string[] {
  return name.includes('::') ? [nameKey(name), nameKey(withSlash(name))] : [nameKey(name)]
}

function isKept(value: string): boolean {
  return value !== '' && value.length <= LONGEST_VALUE
}
