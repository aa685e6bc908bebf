import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { together } from '../note/together.ts'
import { composed } from '../search/words/unicode-forms.ts'
import { Months } from './months.ts'
import {
  type FactNote,
  incomingFacts,
  noteSlice,
  observationFacts,
  outgoingFacts,
  type SliceEnd,
} from './store-project-facts.ts'

/** Some milliseconds of work each: between two of them others have their turn. */
const SLICE = 500
// Characters: a few of them are enough for an observation or a link.
const SLICE_SIZE = 500_000
const MOST_SHOWN = 10
const MOST_NAMES = 200
const MOST_COUNTED = 10_000

export interface ProjectFacts {
  notes: number
  observations: number
  relations: number
  unresolved: number
  noteTypes: Record<string, number>
  categories: Record<string, number>
  relationTypes: Record<string, number>
  mostConnected: { note: FactNote; relations: number }[]
  isolated: number
  recentlyCreated: FactNote[]
  recentlyUpdated: FactNote[]
  months: Months
}

/** Everything that is counted about a project, slice by slice. `reader` should be a snapshot. Fails when the caller has `gone`. */
export async function projectFacts(
  reader: Reader,
  projectId: number,
  now: Micros,
  gone?: AbortSignal,
): Promise<ProjectFacts> {
  const facts = new Counting(now)
  for (let end: SliceEnd | null = null; ; ) {
    const notes = await noteSlice(reader, projectId, end, SLICE)
    for (const some of together(notes, SLICE_SIZE)) {
      await facts.add(reader, some)
      await nextTurn()
      gone?.throwIfAborted()
    }
    if (notes.length < SLICE) return facts.result()
    end = notes.at(-1) as FactNote
  }
}

class Counting {
  readonly #types = new Map<string, number>()
  readonly #categories = new Map<string, number>()
  readonly #relationTypes = new Map<string, number>()
  readonly #totals = { notes: 0, observations: 0, relations: 0, unresolved: 0, isolated: 0 }
  readonly #months: Months
  #mostConnected: { note: FactNote; relations: number }[] = []
  #recentlyCreated: FactNote[] = []
  #recentlyUpdated: FactNote[] = []

  constructor(now: Micros) {
    this.#months = new Months(now)
  }

  async add(reader: Reader, notes: FactNote[]): Promise<void> {
    const totals = this.#totals
    const ids = JSON.stringify(notes.map(({ id }) => id))
    const observations = new Map<number, number>()
    const outgoing = new Map<number, number>()
    const incoming = new Map<number, number>()
    for (const { note_id, category, amount } of await reader.run(observationFacts, { ids })) {
      raise(observations, note_id, amount)
      raise(this.#categories, composed(category), amount)
      totals.observations += amount
    }
    for (const { from_id, relation_type, amount, unresolved } of await reader.run(outgoingFacts, { ids })) {
      raise(outgoing, from_id, amount)
      raise(this.#relationTypes, composed(relation_type), amount)
      totals.relations += amount
      totals.unresolved += unresolved
    }
    for (const { to_id, amount } of await reader.run(incomingFacts, { ids })) incoming.set(to_id, amount)
    for (const note of notes) {
      const { id, type_key, created_at } = note
      const relations = outgoing.get(id) ?? 0
      const connections = relations + (incoming.get(id) ?? 0)
      totals.notes++
      raise(this.#types, composed(type_key), 1)
      this.#months.add(created_at, { notes: 1, observations: observations.get(id) ?? 0, relations })
      if (connections === 0) totals.isolated++
      else this.#mostConnected.push({ note, relations: connections })
    }
    for (const counts of [this.#types, this.#categories, this.#relationTypes]) forgetRarest(counts)
    this.#keepTheFirst(notes)
  }

  result(): ProjectFacts {
    return {
      ...this.#totals,
      noteTypes: mostFrequent(this.#types),
      categories: mostFrequent(this.#categories),
      relationTypes: mostFrequent(this.#relationTypes),
      mostConnected: this.#mostConnected,
      recentlyCreated: this.#recentlyCreated,
      recentlyUpdated: this.#recentlyUpdated,
      months: this.#months,
    }
  }

  #keepTheFirst(notes: FactNote[]): void {
    this.#mostConnected = this.#mostConnected
      .sort((a, b) => b.relations - a.relations || byPath(a.note, b.note))
      .slice(0, MOST_SHOWN)
    this.#recentlyCreated = [...this.#recentlyCreated, ...notes]
      .sort((a, b) => b.created_at - a.created_at || b.id - a.id)
      .slice(0, MOST_SHOWN)
    // Slices come newest first.
    if (this.#recentlyUpdated.length === 0) this.#recentlyUpdated = notes.slice(0, MOST_SHOWN)
  }
}

function raise<Key>(counts: Map<Key, number>, key: Key, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount)
}

/**
 * Names that users make up have no end. Of more than are counted the rarest so far go: one that becomes frequent only among older
 * notes is counted from there on.
 */
function forgetRarest(counts: Map<string, number>): void {
  for (let rare = 1; counts.size > MOST_COUNTED; rare *= 2) {
    for (const [name, amount] of counts) {
      if (amount <= rare) counts.delete(name)
      if (counts.size <= MOST_COUNTED) break
    }
  }
}

/** Those that are shown; the rest are the rare ones. */
function mostFrequent(counts: Map<string, number>): Record<string, number> {
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return Object.fromEntries(sorted.slice(0, MOST_NAMES))
}

function byPath(a: FactNote, b: FactNote): number {
  return a.file_path < b.file_path ? -1 : 1
}
