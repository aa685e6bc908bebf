import { Turns } from '../../../platform/clock/turns.ts'
import type { NearChunk } from './near-chunk.ts'
import { ranked, withSpare } from './ranked.ts'
import type { NearTable } from './store-near-table.ts'
import { type ChangePlace, endOfChange, hasWhole, type VectorSource } from './store-vector-source.ts'
import type { VectorKeeper } from './vector-keeper.ts'
import type { MayGoOn, VectorQuestion } from './vector-question.ts'

export interface NearTableOptions {
  source: VectorSource
  table: NearTable
  memory: VectorKeeper
  onTrouble(error: unknown): void
  /** Up to so many vectors the table is fast enough. */
  most?: number
}

// Beyond, a copy in memory answers several times as fast.
const MOST = 50_000
const CHANGED_NOTES = 200
// A note may have thousands, and a question waits for what is taken over before it.
const CHANGED_CHUNKS = 500
const ROUNDS = 3
const MOST_SIZES = 10_000

/**
 * Where PostgreSQL has pgvector: small projects are searched there, and take no memory here, and so are those that have no room in
 * the memory. The others are searched in memory, and so is everything while the table is far behind.
 */
export class NearTableKeeper {
  readonly #options: Required<NearTableOptions>
  readonly #filling = new Map<string, Promise<void>>()
  readonly #sizes = new Map<string, { seq: number; isForTable: boolean }>()
  readonly #turns = new Turns()
  #isClosed = false

  constructor(options: NearTableOptions) {
    this.#options = { most: MOST, ...options }
  }

  async nearest(question: VectorQuestion, mayGoOn: MayGoOn): Promise<NearChunk[]> {
    const { source, table, memory } = this.#options
    const seq = await source.changeSeq(question)
    if (seq === null) return []
    if (!(await this.#isForTable(question, seq)) || !(await this.#isCurrent(question, seq))) {
      return memory.nearest(question, mayGoOn)
    }
    for (let round = 1; ; round++) {
      mayGoOn()
      const ids = await table.nearest(question, question.vector, withSpare(question.k))
      const rows = await source.byId(question, ids)
      // Some went between the two; their places are for others.
      if (rows.length >= Math.min(question.k, ids.length) || round === ROUNDS) return ranked(question, rows)
    }
  }

  /** Settles when the table has everything that was missing at the last questions. */
  async filled(): Promise<void> {
    await Promise.all(this.#filling.values())
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.filled()
  }

  async #isForTable(question: VectorQuestion, seq: number): Promise<boolean> {
    const { source, memory, most } = this.#options
    const name = nameOf(question)
    const known = this.#sizes.get(name)
    if (known?.seq === seq) return known.isForTable
    const isSmall = (await source.count(question, most + 1)) <= most
    const isForTable = isSmall || !memory.hasRoomFor(await source.count(question), question.vector.length)
    if (this.#sizes.size >= MOST_SIZES) this.#sizes.clear()
    this.#sizes.set(name, { seq, isForTable })
    return isForTable
  }

  /** Takes over what changed when that is little; else begins to, for the questions that come later. */
  async #isCurrent(question: VectorQuestion, seq: number): Promise<boolean> {
    const name = nameOf(question)
    if (this.#filling.has(name)) return false
    try {
      if (hasWhole(await this.#options.table.state(question), seq)) return true
      if (await this.#catchUp(question, seq)) return true
      this.#fill(name, question)
      return false
    } catch (error) {
      this.#options.onTrouble(error)
      return false
    }
  }

  /**
   * Takes over one part of what changed; whether that was all. One at a time, of all projects: each takes memory, and they share
   * a connection. Somebody who asked before may have done it already.
   */
  #catchUp(question: VectorQuestion, seq: number): Promise<boolean> {
    const { table } = this.#options
    return this.#turns.run('all', async () => {
      const state = await table.state(question)
      if (hasWhole(state, seq)) return true
      const last = await this.#follow(question, state)
      await table.setState(question, last ?? endOfChange(seq))
      return last === null
    })
  }

  #fill(name: string, question: VectorQuestion): void {
    if (this.#filling.has(name)) return
    const { source, onTrouble } = this.#options
    const fill = async () => {
      const seq = await source.changeSeq(question)
      if (seq === null) return
      while (!this.#isClosed && !(await this.#catchUp(question, seq)));
    }
    const filling = fill()
      .catch(onTrouble)
      .finally(() => this.#filling.delete(name))
    this.#filling.set(name, filling)
  }

  /** The last of the notes that it took over; null when there are no more. */
  async #follow(question: VectorQuestion, after: ChangePlace): Promise<ChangePlace | null> {
    const { source, table } = this.#options
    const notes = await source.changedNotes(question, after, CHANGED_NOTES)
    let [to, chunks] = [0, 0]
    for (; to < notes.length && chunks < CHANGED_CHUNKS; to++) chunks += notes[to]?.chunks ?? 0
    const part = notes.slice(0, to)
    const filled = part.filter((note) => note.chunks > 0).map(({ note_id }) => note_id)
    if (filled.length > 0) await table.add(question.vector.length, await source.ofNotes(question, filled))
    const last = part.at(-1)
    return last === undefined || (to === notes.length && to < CHANGED_NOTES) ? null : last
  }
}

function nameOf({ projectId, modelId }: VectorQuestion): string {
  return `${projectId} ${modelId}`
}
