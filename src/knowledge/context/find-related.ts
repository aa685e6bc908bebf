import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Edge, Neighbourhood } from './neighbourhood.ts'
import type { ContextNote } from './store-context.ts'

export interface RelatedOptions {
  /** From note over relation to note is one. */
  depth: number
  /** Of each beginning. */
  maxRelated: number
  /** Older notes are not shown, and nothing is reached through them. */
  since: Micros | null
}

// Others have their turn between them.
const STEPS_AT_ONCE = 10

export type Related = { type: 'entity'; note: ContextNote } | { type: 'relation'; edge: Edge }

/**
 * What lies around each of the notes, nearest first; at the same distance notes before relations, each by number. All
 * beginnings go one step further together, so that the number of queries depends on the depth alone.
 */
export async function findRelated(
  around: Neighbourhood,
  beginnings: readonly number[],
  options: RelatedOptions,
): Promise<Related[][]> {
  const searches = beginnings.map((id) => new Search(around, id, options))
  for (let depth = 1; depth <= options.depth; depth++) {
    const frontier = searches.flatMap((search) => search.frontier)
    if (frontier.length === 0) break
    await around.expand(frontier, options.since)
    for (const [at, search] of searches.entries()) {
      search.step()
      if (at % STEPS_AT_ONCE === STEPS_AT_ONCE - 1) await nextTurn()
    }
  }
  return searches.map(({ found }) => found)
}

class Search {
  readonly found: Related[] = []
  frontier: number[]
  readonly #around: Neighbourhood
  readonly #options: RelatedOptions
  /** A note is reached once, on a shortest way: that is what ends a circle. */
  readonly #reached: Set<number>
  readonly #crossed = new Set<number>()

  constructor(around: Neighbourhood, beginning: number, options: RelatedOptions) {
    this.#around = around
    this.#options = options
    this.#reached = new Set([beginning])
    this.frontier = options.maxRelated > 0 ? [beginning] : []
  }

  step(): void {
    const notes: ContextNote[] = []
    const edges: Edge[] = []
    for (const id of this.frontier) {
      for (const edge of this.#around.edgesOf(id)) {
        if (this.#crossed.has(edge.id)) continue
        const other = edge.from_id === id ? edge.to_id : edge.from_id
        const note = other === null ? null : this.#around.note(other)
        if (note === undefined) continue
        const isShown = note === null || this.#isShown(note)
        // A relation is as old as the note that says it.
        if (!isShown && edge.from_id !== id) continue
        this.#crossed.add(edge.id)
        edges.push(edge)
        if (!isShown || note === null || this.#reached.has(note.id)) continue
        this.#reached.add(note.id)
        notes.push(note)
      }
    }
    const room = this.#options.maxRelated - this.found.length
    const nearest = notes.toSorted((a, b) => a.id - b.id).slice(0, room)
    for (const note of nearest) this.found.push({ type: 'entity', note })
    const left = room - nearest.length
    for (const edge of edges.toSorted((a, b) => a.id - b.id).slice(0, left)) this.found.push({ type: 'relation', edge })
    this.frontier = this.found.length < this.#options.maxRelated ? nearest.map(({ id }) => id) : []
  }

  #isShown({ id, updated_at: updatedAt }: ContextNote): boolean {
    const { since } = this.#options
    return since === null || updatedAt >= since || this.#reached.has(id)
  }
}
