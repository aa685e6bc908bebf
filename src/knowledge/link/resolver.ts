import type { NoteRef, Project } from '../note/note.ts'
import { NAME_KINDS } from '../tables.ts'
import type { Division } from '../text/body/anchors.ts'
import { withSlash } from '../text/body/wikilinks.ts'
import { isSameName } from '../text/name/name-key.ts'
import { normalForm } from '../text/normal-form.ts'
import { type Ask, anchorOf, literalsOf, type Reading, readingsOf, verbatim } from './ask.ts'
import { compareByPath, nearest } from './nearest.ts'
import type { NamedNote } from './store-names.ts'

/** Names by their key. */
export type NameIndex = ReadonlyMap<string, readonly NamedNote[]>

/** The names with these keys. */
export function namesWith(index: NameIndex, keys: readonly string[]): NamedNote[] {
  const names: NamedNote[] = []
  for (const [at, key] of keys.entries()) {
    const found = keys.indexOf(key) === at ? index.get(key) : undefined
    if (found !== undefined) names.push(...found)
  }
  return names
}

/**
 * The note and the place in it that the rest of the text means. Several: notes that have the name with equal right, where
 * the caller must not guess.
 */
export type Choice = { note: NoteRef; anchor: string | null } | { several: NoteRef[] } | null

/** The same without a place: which text is its name was decided already. */
type Named = { note: NoteRef } | { several: NoteRef[] } | null

export interface ChooseOptions {
  /** Several notes with one title and no source to be near to: say so instead of taking the first. */
  isStrict?: boolean
  /** Whether names that notes had before count, after all that they have now. By default they do. */
  withRetired?: boolean
}

/**
 * Which of the notes that have the asked keys is meant: exact names first, then those that notes had before. A "#" is part
 * of the name of a note only literally ("C# guide"), else an anchor begins there, which is left out.
 */
export function choose(
  project: Project,
  ask: Ask,
  names: readonly NamedNote[],
  { isStrict = false, withRetired = true }: ChooseOptions = {},
): Choice {
  const [first] = names
  if (first === undefined) return null
  const { name, target, sourcePath } = ask
  // Nearly every link: whichever rule decides, there is no other note to decide for.
  if (name === target && names.length === 1 && first.kind === NAME_KINDS.current && first.title === target) {
    return { note: first, anchor: null }
  }
  const literals = literalsOf(ask)
  const readings = readingsOf(project, ask)
  const rest = anchorOf(ask)
  return (
    (ask.sent === undefined ? null : at(chooseAsSent(ask.sent, sourcePath, names, isStrict), null)) ??
    firstOf(literals, ({ text, anchor }) => at(chooseLiteral(text, sourcePath, names), anchor)) ??
    firstOf(readings, (reading) => at(chooseExact(reading, sourcePath, names, isStrict), rest)) ??
    (withRetired ? chooseFormer(literals, readings, rest, sourcePath, names) : null)
  )
}

function chooseFormer(
  literals: readonly Division[],
  readings: readonly Reading[],
  rest: string | null,
  sourcePath: string | null,
  names: readonly NamedNote[],
): Choice {
  return (
    firstOf(literals, ({ text, anchor }) => at(chooseRetired(verbatim(text), sourcePath, names), anchor)) ??
    firstOf(readings, (reading) =>
      at(chooseRetired(reading, sourcePath, names) ?? chooseForgivenRetired(reading, names), rest),
    )
  )
}

function firstOf<T>(ways: readonly T[], choosing: (way: T) => Choice): Choice {
  for (const way of ways) {
    const choice = choosing(way)
    if (choice !== null) return choice
  }
  return null
}

function at(named: Named, anchor: string | null): Choice {
  return named !== null && 'note' in named ? { note: named.note, anchor } : named
}

function chooseAsSent(text: string, sourcePath: string | null, names: readonly NamedNote[], isStrict: boolean): Named {
  const reading = verbatim(text)
  const current = currentOf(names)
  return (
    chooseByName(reading, sourcePath, current, isStrict) ??
    chooseByAlias(reading, sourcePath, names, isStrict) ??
    atPath(current, text)
  )
}

function chooseLiteral(text: string, sourcePath: string | null, names: readonly NamedNote[]): Named {
  const folded = fold(text)
  const hits = notesOf(
    names.filter(({ kind, value, title, permalink, file_path }) =>
      kind === NAME_KINDS.current
        ? [title, permalink, file_path].some((own) => isSameName(own, text)) || isSameName(file_path, `${text}.md`)
        : kind === NAME_KINDS.alias && fold(value) === folded,
    ),
  )
  return one(hits, sourcePath)
}

function chooseExact(
  reading: Reading,
  sourcePath: string | null,
  names: readonly NamedNote[],
  isStrict: boolean,
): Named {
  const { text, relative } = reading
  const current = currentOf(names)
  return (
    (relative !== null && text.includes('/') ? atPath(current, `${relative}.md`, relative) : null) ??
    chooseByName(reading, sourcePath, current, isStrict) ??
    chooseByAlias(reading, sourcePath, names, isStrict) ??
    atPath(current, text, `${text}.md`) ??
    chooseWithColons(text, sourcePath, names, isStrict) ??
    (relative === null ? null : atForgivenPath(current, relative)) ??
    atForgivenPath(current, text)
  )
}

function chooseByName(
  reading: Reading,
  sourcePath: string | null,
  notes: readonly NoteRef[],
  isStrict: boolean,
): Named {
  const { text } = reading
  const byPermalink = withPermalink(reading, notes)
  const byTitle = notes.filter(({ title }) => isSameName(title, text))
  if (sourcePath !== null) return one([...new Set([...byPermalink, ...byTitle])], sourcePath)
  if (isStrict && byTitle.length > 1) {
    const literal = byPermalink.find(({ permalink }) => isSameName(permalink, text))
    return (literal && { note: literal }) ?? atPath(notes, text) ?? { several: byTitle.sort(compareByPath) }
  }
  return byPermalink[0] === undefined ? one(byTitle, null) : { note: byPermalink[0] }
}

/** Where a note has the path, a permalink that only resembles the text means no other note: one that was moved keeps it. */
function withPermalink({ text, permalinks, paths }: Reading, notes: readonly NoteRef[]): NoteRef[] {
  const hits = permalinks.flatMap((wanted) => notes.filter(({ permalink }) => isSameName(permalink, wanted)))
  const isVerbatim = ({ permalink }: NoteRef) => isSameName(permalink, text)
  const there = hits.every(isVerbatim) ? undefined : noteAt(notes, paths)
  return there === undefined ? hits : hits.filter((note) => note === there || isVerbatim(note))
}

function chooseByAlias(
  { text }: Reading,
  sourcePath: string | null,
  names: readonly NamedNote[],
  isStrict: boolean,
): Named {
  const folded = fold(text)
  const notes = notesOf(names.filter(({ kind, value }) => kind === NAME_KINDS.alias && fold(value) === folded))
  return only(notes, sourcePath, isStrict)
}

/** A title, permalink or alias such as `std::vector`, which a link has as `std/vector`. */
function chooseWithColons(
  text: string,
  sourcePath: string | null,
  names: readonly NamedNote[],
  isStrict: boolean,
): Named {
  if (!text.includes('/')) return null
  const hits = names.filter(({ kind, value, title, permalink }) =>
    kind === NAME_KINDS.current
      ? isWithColons(title, text) || isWithColons(permalink ?? '', text)
      : kind === NAME_KINDS.alias && isWithColons(fold(value), fold(text)),
  )
  return only(notesOf(hits), sourcePath, isStrict)
}

function isWithColons(name: string, text: string): boolean {
  return name.includes('::') && isSameName(withSlash(name), text)
}

/** The nearest, unless the caller must not guess. */
function only(notes: NoteRef[], sourcePath: string | null, isStrict: boolean): Named {
  const isOpen = isStrict && sourcePath === null && notes.length > 1
  return isOpen ? { several: notes.sort(compareByPath) } : one(notes, sourcePath)
}

function chooseRetired(
  { text, permalinks, relative }: Reading,
  sourcePath: string | null,
  names: readonly NamedNote[],
): Named {
  const relatives = relative === null ? [] : [`${relative}.md`, relative]
  const tiers: [kind: number, values: readonly string[]][] = [
    [NAME_KINDS.retiredPermalink, permalinks],
    [NAME_KINDS.retiredPath, [...relatives, text, `${text}.md`]],
    [NAME_KINDS.retiredTitle, [text]],
  ]
  for (const [wanted, values] of tiers) {
    for (const literal of values) {
      const hits = notesOf(names.filter(({ kind, value }) => kind === wanted && isFormer(value, literal)))
      if (hits.length > 0) return one(hits, sourcePath)
    }
  }
  return null
}

/** A link in lower case goes on leading to a note that was moved away, as it led there before. */
function chooseForgivenRetired({ text, relative }: Reading, names: readonly NamedNote[]): Named {
  const former = names.filter(({ kind }) => kind === NAME_KINDS.retiredPath)
  return (relative === null ? null : atForgivenRetired(former, relative)) ?? atForgivenRetired(former, text)
}

function atForgivenRetired(former: readonly NamedNote[], text: string): Named {
  const [note, ...others] = notesOf(former.filter(({ value }) => isForgivenPath(value, text)))
  return note === undefined || others.length > 0 ? null : { note }
}

function isFormer(value: string, text: string): boolean {
  return isSameName(value, text) || isWithColons(value, text)
}

function currentOf(names: readonly NamedNote[]): NoteRef[] {
  return notesOf(names.filter(({ kind }) => kind === NAME_KINDS.current))
}

/** Each note once, whatever the number of its names. */
function notesOf(names: readonly NamedNote[]): NoteRef[] {
  const notes = new Map<number, NoteRef>()
  for (const name of names) if (!notes.has(name.id)) notes.set(name.id, name)
  return [...notes.values()]
}

function one(notes: readonly NoteRef[], sourcePath: string | null): Named {
  const note = nearest(notes, sourcePath)
  return note === undefined ? null : { note }
}

function atPath(notes: readonly NoteRef[], ...paths: readonly string[]): Named {
  const note = noteAt(notes, paths)
  return note === undefined ? null : { note }
}

function noteAt(notes: readonly NoteRef[], paths: readonly string[]): NoteRef | undefined {
  for (const path of paths) {
    const note = notes.find(({ file_path }) => isSameName(file_path, path))
    if (note !== undefined) return note
  }
  return undefined
}

/** Whatever its case and its kind of hyphens, as long as only one note can be meant. */
function atForgivenPath(notes: readonly NoteRef[], text: string): Named {
  const hits = notes.filter(({ file_path }) => isForgivenPath(file_path, text))
  return hits.length === 1 && hits[0] !== undefined ? { note: hits[0] } : null
}

function isForgivenPath(path: string, text: string): boolean {
  const [folded, wanted] = [foldPath(path), foldPath(text)]
  return folded === wanted || folded === `${wanted}.md`
}

const NOT_ASCII = /[^\0-\x7f]/

/** Whatever its case: `ß` is written `SS` or `ẞ` in capitals, and where `Σ` ends a word it is `ς`. */
function fold(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase()
  const small = normalForm(text, 'NFC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')
  return normalForm(small, 'NFC')
}

function foldPath(text: string): string {
  return fold(text).replaceAll('_', '-')
}
