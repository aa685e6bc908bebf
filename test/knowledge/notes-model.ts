import { readTarget } from '../../src/knowledge/text/body/wikilinks.ts'
import { areTwins } from '../../src/knowledge/text/name/name-key.ts'
import { slug } from '../../src/knowledge/text/name/slug.ts'
import { behind, type Meant, type NamedNote, type NamedText, naiveResolve } from './naive-resolver.ts'

/** What a text says: nothing but links, and names of the note where it gives some. */
export interface ModelText {
  title: string
  permalink: string
  aliases: readonly string[]
  links: readonly ModelLink[]
}

export interface ModelLink {
  type: string
  text: string
}

/** A link as it is stored: the first of each type and name, and the note that it leads to. */
interface Bound extends NamedText {
  type: string
  to: ModelNote | null
  anchor: string | null
}

export interface ModelNote extends ModelText, NamedNote {
  externalId: string
  path: string
  version: number
  past: Map<number, ModelText>
  bound: Bound[]
  retired: { permalinks: Set<string>; paths: Set<string>; titles: Set<string> }
}

export interface ModelChange {
  change: string
  version: number
  path: string
}

export type Refusal = 'conflict' | 'invalid_argument' | 'not_found'

/** Thrown where the service must throw an error with this code. */
export class Refused extends Error {
  readonly code: Refusal

  constructor(code: Refusal) {
    super(code)
    this.code = code
  }
}

type Names = Pick<ModelNote, 'title' | 'permalink' | 'path' | 'aliases'>

/** Notes and their links as the contract tells it, in plain lists. */
export class NotesModel {
  readonly project: string
  notes: ModelNote[] = []
  trash: ModelNote[] = []
  /** By external id, the last changed note last. */
  readonly changes = new Map<string, ModelChange>()

  constructor(project: string) {
    this.project = project
  }

  resolve(text: NamedText, source: string | null): ModelNote | null {
    return this.#meant(text, source)?.note ?? null
  }

  #meant(text: NamedText, source: string | null): Meant<ModelNote> | undefined {
    return naiveResolve(this.project, this.notes, text, source)
  }

  #bind(link: Bound, source: string): void {
    const meant = this.#meant(link, source)
    link.to = meant?.note ?? null
    link.anchor = meant === undefined ? behind(link.name, link.target) : meant.anchor
  }

  create(externalId: string, path: string, text: Omit<ModelText, 'permalink'> & { permalink: string | null }): void {
    this.#refuseOccupied(path, null, 'conflict')
    const permalink = this.#claim(text.permalink ?? `${this.project}/${slug(path)}`, null)
    this.#add({ ...text, permalink, externalId, path, version: 1, past: new Map() }, 'created')
  }

  put(note: ModelNote, path: string, text: Partial<ModelText>): void {
    this.#refuseOccupied(path, note, 'conflict')
    const permalink = this.#claim(text.permalink ?? note.permalink, note)
    this.#change(note, path, { ...textOf(note), ...text, permalink }, 'updated')
  }

  edit(note: ModelNote, text: Partial<ModelText>): void {
    this.#change(note, note.path, { ...textOf(note), ...text }, 'updated')
  }

  revert(note: ModelNote, version: number): void {
    const text = version === note.version ? textOf(note) : note.past.get(version)
    if (text === undefined) throw new Refused('not_found')
    const permalink = this.#claim(text.permalink, note)
    this.#change(note, note.path, { ...text, permalink }, 'restored')
  }

  move(note: ModelNote, path: string): void {
    if (path === note.path) throw new Refused('invalid_argument')
    this.#refuseOccupied(path, note, 'invalid_argument')
    this.#change(note, path, textOf(note), 'moved')
  }

  /** The new paths of what was moved and the old ones of what was not. */
  moveDirectory(source: string, destination: string): { done: string[]; failed: string[] } {
    if (source === destination) throw new Refused('invalid_argument')
    const notes = this.#under(source).map((note) => ({ note, from: note.path }))
    const depth = (path: string) => path.split('/').length
    const direction = destination.startsWith(`${source}/`) ? -1 : 1
    const moved = new Set<string>()
    for (const { note, from } of notes.toSorted((a, b) => direction * (depth(a.from) - depth(b.from)))) {
      const rest = from.slice(source.length + 1)
      try {
        this.move(note, destination === '' ? rest : `${destination}/${rest}`)
        moved.add(from)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
      }
    }
    return {
      done: notes.filter(({ from }) => moved.has(from)).map(({ note }) => note.path),
      failed: notes.filter(({ from }) => !moved.has(from)).map(({ from }) => from),
    }
  }

  delete(note: ModelNote): void {
    this.notes = this.notes.filter((other) => other !== note)
    this.trash.push(note)
    for (const other of this.notes) {
      for (const link of other.bound) if (link.to === note) this.#bind(link, other.path)
    }
    this.#record(note, 'deleted', note.version + 1)
  }

  deleteDirectory(directory: string): string[] {
    const notes = this.#under(directory)
    for (const note of notes) this.delete(note)
    return notes.map(({ path }) => path)
  }

  restore(externalId: string): void {
    const trashed = this.trash.findLast((note) => note.externalId === externalId)
    if (trashed === undefined) throw new Refused('not_found')
    if (this.notes.some((note) => note.externalId === externalId)) throw new Refused('conflict')
    this.#refuseOccupied(trashed.path, null, 'conflict')
    const permalink = this.#claim(trashed.permalink, null)
    this.trash = this.trash.filter((note) => note !== trashed)
    const { path, version, retired } = trashed
    const past = new Map(trashed.past).set(version, textOf(trashed))
    retire(retired.permalinks, trashed.permalink, permalink)
    this.#add({ ...textOf(trashed), permalink, externalId, path, version: version + 2, past }, 'restored', retired)
  }

  #under(directory: string): ModelNote[] {
    const inside = this.notes.filter(({ path }) => path.startsWith(`${directory}/`))
    return inside.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  #refuseOccupied(path: string, own: ModelNote | null, code: Refusal): void {
    if (this.notes.some((note) => note !== own && areTwins(note.path, path))) throw new Refused(code)
  }

  #claim(wanted: string, own: ModelNote | null): string {
    const isTaken = (permalink: string) => this.notes.some((note) => note !== own && note.permalink === permalink)
    let permalink = wanted
    for (let suffix = 1; isTaken(permalink); suffix++) permalink = `${wanted}-${suffix}`
    return permalink
  }

  #add(note: Omit<ModelNote, 'bound' | 'retired'>, change: string, retired: ModelNote['retired'] = noNames()): void {
    const added: ModelNote = { ...note, bound: [], retired }
    this.notes.push(added)
    added.bound = this.#boundLinks(added)
    this.#bindTo(added)
    this.#record(added, change, added.version)
  }

  #change(note: ModelNote, path: string, text: ModelText, change: string): void {
    if (path === note.path && isSame(text, textOf(note))) return
    const before: Names & Pick<ModelText, 'links'> = { ...note }
    note.past.set(note.version, textOf(note))
    Object.assign(note, text, { path, version: note.version + 1 })
    retire(note.retired.permalinks, before.permalink, note.permalink)
    retire(note.retired.paths, before.path, note.path)
    retire(note.retired.titles, before.title, note.title)
    if (!isSameList(before.links, note.links)) note.bound = this.#boundLinks(note, note.bound)
    else if (before.path !== note.path) {
      for (const link of note.bound) if (link.to === null) this.#bind(link, note.path)
    }
    if (!isSame(namesOf(before), namesOf(note))) this.#bindTo(note)
    this.#record(note, change, note.version)
  }

  /** A link that means no note keeps the one that it was bound to. */
  #boundLinks({ links, path }: ModelNote, before: readonly Bound[] = []): Bound[] {
    const first = new Map<string, Bound>()
    for (const { type, text } of links) {
      const read = readTarget(text)
      if (read === null || first.has(`${type} ${read.name}`)) continue
      const { name, target } = read
      const link: Bound = { type, name, target, to: null, anchor: null }
      this.#bind(link, path)
      const kept = before.find((old) => old.name === name && old.to !== null)
      if (link.to === null && kept !== undefined) Object.assign(link, { to: kept.to, anchor: kept.anchor })
      first.set(`${type} ${name}`, link)
    }
    return [...first.values()]
  }

  /** What waits for a note and now means this one. */
  #bindTo(note: ModelNote): void {
    for (const { path, bound } of this.notes) {
      for (const link of bound) if (link.to === null && this.resolve(link, path) === note) this.#bind(link, path)
    }
  }

  #record({ externalId, path }: ModelNote, change: string, version: number): void {
    this.changes.delete(externalId)
    this.changes.set(externalId, { change, version, path })
  }
}

function textOf({ title, permalink, aliases, links }: ModelNote): ModelText {
  return { title, permalink, aliases, links }
}

function namesOf({ title, permalink, path, aliases }: Names): Names {
  return { title, permalink, path, aliases }
}

function noNames(): ModelNote['retired'] {
  return { permalinks: new Set(), paths: new Set(), titles: new Set() }
}

function retire(names: Set<string>, before: string, after: string): void {
  if (before === after) return
  names.add(before)
  names.delete(after)
}

function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
