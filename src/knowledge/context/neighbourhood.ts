import type { Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { partId } from '../note/part-id.ts'
import { type ContextNote, notesByIds } from './store-context.ts'
import { type Link, relationsAround } from './store-neighbours.ts'

export interface Edge extends Link {
  id: number
}

export interface NeighbourhoodLimits {
  /** Notes whose relations are looked at. */
  notes: number
  relations: number
}

// Of one request: the result is a few hundred items at most, so nothing of use lies behind these.
const LIMITS: NeighbourhoodLimits = { notes: 2_000, relations: 50_000 }
const IDS_PER_QUERY = 50

/** Notes and the relations between them, as far as they were asked for; each is read once. */
export class Neighbourhood {
  readonly #reader: Reader
  readonly #projectId: number
  readonly #limits: NeighbourhoodLimits
  readonly #notes = new Map<number, ContextNote>()
  readonly #edges = new Map<number, Edge[]>()
  #relations = 0

  constructor(reader: Reader, projectId: number, limits = LIMITS) {
    this.#reader = reader
    this.#projectId = projectId
    this.#limits = limits
  }

  note(id: number): ContextNote | undefined {
    return this.#notes.get(id)
  }

  /** By their number. Empty for a note that was never expanded. */
  edgesOf(id: number): readonly Edge[] {
    return this.#edges.get(id) ?? []
  }

  async know(ids: Iterable<number>): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.#notes.has(id))
    for (let at = 0; at < unknown.length; at += 500) {
      const notes = await notesByIds(this.#reader, this.#projectId, unknown.slice(at, at + 500))
      for (const note of notes) this.#notes.set(note.id, note)
    }
  }

  /**
   * Reads the relations of the notes, and the notes at their other ends. Of a note with very many, those with notes that changed
   * since then are among them.
   */
  async expand(ids: Iterable<number>, since: Micros | null): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.#edges.has(id))
    for (let at = 0; at < unknown.length; at += IDS_PER_QUERY) {
      const left = this.#limits.notes - this.#edges.size
      if (left <= 0 || this.#relations >= this.#limits.relations) return
      const some = unknown.slice(at, at + Math.min(IDS_PER_QUERY, left))
      const recent = since === null ? null : { projectId: this.#projectId, since }
      await this.#add(some, await relationsAround(this.#reader, some, recent))
    }
  }

  async #add(ids: readonly number[], links: readonly Link[]): Promise<void> {
    const edges = new Map<number, Edge>()
    for (const link of links) {
      const id = partId(link.from_id, link.position)
      edges.set(id, { ...link, id })
    }
    this.#relations += edges.size
    for (const id of ids) this.#edges.set(id, [])
    const ends = new Set<number>()
    const wanted = new Set(ids)
    for (const edge of [...edges.values()].toSorted((a, b) => a.id - b.id)) {
      const { from_id: from, to_id: to } = edge
      if (wanted.has(from)) this.#edges.get(from)?.push(edge)
      if (to !== null && to !== from && wanted.has(to)) this.#edges.get(to)?.push(edge)
      ends.add(from)
      if (to !== null) ends.add(to)
    }
    await this.know(ends)
  }
}
