import { setImmediate as nextTurn } from 'node:timers/promises'
import { Turns } from '../../../platform/clock/turns.ts'
import { BestPlaces } from './best-places.ts'
import type { NearChunk } from './near-chunk.ts'
import { ranked, similarity, withSpare } from './ranked.ts'
import {
  type ChangedNote,
  type ChangePlace,
  endOfChange,
  hasWhole,
  type StoredVector,
  type VectorSource,
} from './store-vector-source.ts'
import { VectorArena } from './vector-arena.ts'
import { rowsPerBlock, VectorCopy } from './vector-copy.ts'
import type { MayGoOn, VectorQuestion } from './vector-question.ts'

interface Kept {
  copy: VectorCopy
  /** What was loaded last, until everything is; whoever comes after one who gave up goes on from there. */
  loadedTo: StoredVector | undefined
  isLoaded: boolean
  at: ChangePlace
  usedAt: number
  isInUse: boolean
}

const PAGE_BYTES = 524_288
const CHANGED_NOTES = 500
const CHANGED_CHUNKS = 2_000
// What was found may be gone before it is read. Nobody changes so much at once that this is not enough.
const ROUNDS = 4

/**
 * Copies of vectors in memory, by project and model, and answers from them. A copy is made when it is first asked for, follows
 * the changes at every question, and is dropped for others that are used more. What does not fit is read at every question.
 */
export class VectorKeeper {
  readonly #source: VectorSource
  readonly #arena: VectorArena
  readonly #mostBlocks: number
  readonly #kept = new Map<string, Kept>()
  readonly #turns = new Turns()
  #uses = 0

  constructor(source: VectorSource, maxBytes: number) {
    this.#source = source
    this.#arena = new VectorArena(maxBytes)
    this.#mostBlocks = this.#arena.freeBlocks
  }

  get bytes(): number {
    return this.#arena.bytes
  }

  /** How many vectors are in memory. */
  get live(): number {
    return [...this.#kept.values()].reduce((sum, { copy }) => sum + copy.live, 0)
  }

  /** Whether so many could be in memory, were they alone there. */
  hasRoomFor(vectors: number, dimensions: number): boolean {
    return Math.ceil(vectors / rowsPerBlock(dimensions)) <= this.#mostBlocks
  }

  /** Questions to one copy are answered one after the other. */
  nearest(question: VectorQuestion, mayGoOn: MayGoOn): Promise<NearChunk[]> {
    const name = `${question.projectId} ${question.modelId}`
    return this.#turns.run(name, () => this.#answer(name, question, mayGoOn))
  }

  async #answer(name: string, question: VectorQuestion, mayGoOn: MayGoOn): Promise<NearChunk[]> {
    for (let round = 1; ; round++) {
      mayGoOn()
      const kept = await this.#open(name, question)
      if (kept === null) return this.#readThrough(question, mayGoOn)
      try {
        if (!(await this.#bringUp(kept, question, mayGoOn))) {
          this.#drop(name)
          return await this.#readThrough(question, mayGoOn)
        }
        const { rows, gone } = await this.#look(kept.copy, question, mayGoOn)
        if (gone.length > rows.length) this.#drop(name)
        else for (const place of gone) kept.copy.hide(place)
        const isEnough = gone.length === 0 || rows.length >= question.k
        if (isEnough || round === ROUNDS) return ranked(question, rows)
      } finally {
        kept.usedAt = ++this.#uses
        kept.isInUse = false
      }
    }
  }

  /** The copy, in use from now on; null when it cannot be had in memory. */
  async #open(name: string, question: VectorQuestion): Promise<Kept | null> {
    const seq = await this.#source.changeSeq(question)
    const { length: dimensions } = question.vector
    let kept = this.#kept.get(name)
    // Somebody began to count anew.
    if (kept !== undefined && (seq === null || seq < kept.at.seq || kept.copy.dimensions !== dimensions)) {
      this.#drop(name)
      kept = undefined
    }
    if (kept === undefined) {
      const size = seq === null ? 0 : await this.#source.count(question)
      if (!this.#makeRoom(Math.ceil(size / rowsPerBlock(dimensions)))) return null
      const copy = new VectorCopy(this.#arena, dimensions)
      kept = { copy, at: endOfChange(seq ?? 0), loadedTo: undefined, isLoaded: false, usedAt: 0, isInUse: true }
      this.#kept.set(name, kept)
    }
    kept.isInUse = true
    return kept
  }

  /** False when there is not enough memory. Who gives up in between leaves a copy from which the next one goes on. */
  async #bringUp(kept: Kept, question: VectorQuestion, mayGoOn: MayGoOn): Promise<boolean> {
    if (!kept.isLoaded) {
      for await (const rows of this.#pages(question, kept.loadedTo, mayGoOn)) {
        if (!rows.every((row) => this.#append(kept.copy, row))) return false
        kept.loadedTo = rows.at(-1) ?? kept.loadedTo
      }
      kept.isLoaded = true
    }
    // Asked for after loading: a change meanwhile may have been read or not.
    const seq = await this.#source.changeSeq(question)
    return seq === null || hasWhole(kept.at, seq) || this.#follow(kept, seq, question, mayGoOn)
  }

  /** Reads the vectors of all notes that changed since. */
  async #follow(kept: Kept, seq: number, question: VectorQuestion, mayGoOn: MayGoOn): Promise<boolean> {
    const { copy } = kept
    for (;;) {
      const notes = await this.#source.changedNotes(question, kept.at, CHANGED_NOTES)
      for (let from = 0; from < notes.length; ) {
        let [to, chunks] = [from, 0]
        for (; to < notes.length && chunks < CHANGED_CHUNKS; to++) chunks += notes[to]?.chunks ?? 0
        const noteIds = notes.slice(from, to).map(({ note_id }) => note_id)
        const rows = chunks === 0 ? [] : await this.#source.ofNotes(question, noteIds)
        copy.hideNotes(noteIds.sort((one, other) => one - other))
        if (!rows.every((row) => this.#append(copy, row))) return false
        kept.at = notes[to - 1] as ChangedNote
        from = to
        await nextTurn()
        mayGoOn()
      }
      if (notes.length < CHANGED_NOTES) break
    }
    kept.at = endOfChange(Math.max(seq, kept.at.seq))
    if (copy.hidden > copy.live / 4 + rowsPerBlock(copy.dimensions)) copy.compact()
    return true
  }

  /** The rows that are nearest by the copy, and the places of those that are there no longer. */
  async #look(copy: VectorCopy, question: VectorQuestion, mayGoOn: MayGoOn) {
    const best = new BestPlaces(Math.min(copy.live, withSpare(question.k)))
    copy.scan(question.vector, best, mayGoOn)
    const places = new Map(best.places().map((place) => [copy.idAt(place), place]))
    const rows = places.size === 0 ? [] : await this.#source.byId(question, [...places.keys()])
    for (const { id } of rows) places.delete(id)
    return { rows, gone: [...places.values()] }
  }

  #append(copy: VectorCopy, { id, note_id, vector }: StoredVector): boolean {
    if (copy.append(id, note_id, vector)) return true
    if (!this.#makeRoom(1)) copy.compact()
    return copy.append(id, note_id, vector)
  }

  /** Drops what was not used for longest until so many blocks are free. */
  #makeRoom(blocks: number): boolean {
    const idle = [...this.#kept].filter(([, { isInUse }]) => !isInUse).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    for (const [name] of idle) {
      if (this.#arena.freeBlocks >= blocks) break
      this.#drop(name)
    }
    return this.#arena.freeBlocks >= blocks
  }

  #drop(name: string): void {
    this.#kept.get(name)?.copy.release()
    this.#kept.delete(name)
  }

  /** Without a copy: every vector is read and compared as it is stored. */
  async #readThrough(question: VectorQuestion, mayGoOn: MayGoOn): Promise<NearChunk[]> {
    const { vector, k } = question
    const best = new BestPlaces(Math.min(k, await this.#source.count(question)))
    for await (const rows of this.#pages(question, undefined, mayGoOn)) {
      for (const row of rows) best.add(row.id, similarity(vector, row))
    }
    return ranked(question, await this.#source.byId(question, best.places()))
  }

  /** All vectors that follow. Others have their turn between two pages. */
  async *#pages(question: VectorQuestion, after: StoredVector | undefined, mayGoOn: MayGoOn) {
    const limit = Math.ceil(PAGE_BYTES / (2 * question.vector.length))
    for (let last = after; ; ) {
      const rows = await this.#source.page(question, last, limit)
      yield rows
      if (rows.length < limit) return
      last = rows.at(-1)
      await nextTurn()
      mayGoOn()
    }
  }
}
