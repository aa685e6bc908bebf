import type { BestPlaces } from './best-places.ts'
import { FIRST_INFINITE, HALF_VALUES, halvesOf } from './half-floats.ts'
import { QUESTION_MAX, ROW_STEP, WIDTH_STEP } from './scan-kernel.ts'
import { BLOCK_BYTES, type Block, type VectorArena } from './vector-arena.ts'

const HIDDEN = Number.NaN
// What a row has beside its numbers: its id, its note, and the factor that makes a product of it a cosine.
const BESIDE_BYTES = 8 + 8 + 4

interface Part {
  block: Block
  count: number
  /** Of its rows; a part that was loaded in order has few notes, so most parts have nothing to do with a change. */
  firstNote: number
  lastNote: number
  views: Views | undefined
}

interface Views {
  buffer: ArrayBuffer
  rows: Int8Array
  ids: Float64Array
  notes: Float64Array
  factors: Float32Array
}

/** The vectors of one project in eight bits a number, to find the few whose real ones are worth reading. */
export class VectorCopy {
  readonly #arena: VectorArena
  readonly #dimensions: number
  readonly #width: number
  readonly #capacity: number
  #parts: Part[] = []
  #live = 0
  #hidden = 0

  constructor(arena: VectorArena, dimensions: number) {
    this.#arena = arena
    this.#dimensions = dimensions
    this.#width = Math.ceil(dimensions / WIDTH_STEP) * WIDTH_STEP
    this.#capacity = rowsPerBlock(dimensions)
  }

  get live(): number {
    return this.#live
  }

  get hidden(): number {
    return this.#hidden
  }

  get dimensions(): number {
    return this.#dimensions
  }

  /** False when there is no memory left. One that is no vector of this length is left out. */
  append(id: number, noteId: number, bytes: Uint8Array): boolean {
    const halves = halvesOf(bytes, this.#dimensions)
    if (halves === null) return true
    const part = this.#partWithRoom()
    if (part === null) return false
    const { rows, ids, notes, factors } = this.#views(part)
    const at = part.count++
    ids[at] = id
    notes[at] = noteId
    const factor = quantize(halves, rows, at * this.#width)
    factors[at] = factor
    if (Number.isNaN(factor)) this.#hidden++
    else this.#live++
    part.firstNote = Math.min(part.firstNote, noteId)
    part.lastNote = Math.max(part.lastNote, noteId)
    return true
  }

  /** The notes in ascending order. */
  hideNotes(noteIds: readonly number[]): void {
    for (const part of this.#parts) {
      const touched = new Set(between(noteIds, part.firstNote, part.lastNote))
      if (touched.size === 0) continue
      const { notes } = this.#views(part)
      for (let at = 0; at < part.count; at++) if (touched.has(notes[at] as number)) this.#hide(part, at)
    }
  }

  hide(place: number): void {
    this.#hide(this.#parts[Math.floor(place / this.#capacity)] as Part, place % this.#capacity)
  }

  idAt(place: number): number {
    const part = this.#parts[Math.floor(place / this.#capacity)] as Part
    return this.#views(part).ids[place % this.#capacity] as number
  }

  /** Adds the best rows; `mayGoOn` is asked now and then. */
  scan(question: Float32Array, best: BestPlaces, mayGoOn: () => void): void {
    const numbers = questionNumbers(question, this.#width)
    const layout = { width: this.#width, apart: this.#capacity / ROW_STEP }
    const asked = new Set<unknown>()
    for (const [index, { block, count }] of this.#parts.entries()) {
      const { bank, at } = block
      if (!asked.has(bank)) bank.question.set(numbers)
      asked.add(bank)
      if (count === 0) continue
      // What is not filled yet is hidden.
      const end = at + Math.min(count, layout.apart) * this.#width
      const rows = { rows: at, end, factors: at + this.#factorsOffset }
      const found = bank.scan(rows, layout, best.least, index * this.#capacity)
      const { numbers: places, scores } = bank.hits
      for (let hit = 0; hit < found; hit++) best.add(places[2 * hit] as number, scores[2 * hit + 1] as number)
      mayGoOn()
    }
  }

  /** Moves the rows together, so that hidden ones take no memory. Places are others afterwards. */
  compact(): void {
    if (this.#hidden === 0) return
    const old = this.#parts
    this.#parts = []
    const kept: Part[] = []
    for (const part of old) {
      // Rows are only moved towards the beginning: whatever is written over was moved before.
      const from = this.#views(part)
      const { count } = part
      for (let at = 0; at < count; at++) {
        if (Number.isNaN(from.factors[at])) continue
        let to = kept.at(-1)
        if (to === undefined || to.count === this.#capacity) {
          to = emptyPart((old[kept.length] as Part).block)
          kept.push(to)
        }
        this.#move(from, at, to)
      }
    }
    for (const part of kept) this.#views(part).factors.fill(HIDDEN, part.count)
    this.#parts = kept
    this.#hidden = 0
    this.#arena.giveBack(old.slice(kept.length).map(({ block }) => block))
  }

  release(): void {
    this.#arena.giveBack(this.#parts.map(({ block }) => block))
    this.#parts = []
    this.#live = this.#hidden = 0
  }

  get #factorsOffset(): number {
    return this.#capacity * (this.#width + 16)
  }

  #partWithRoom(): Part | null {
    const last = this.#parts.at(-1)
    if (last !== undefined && last.count < this.#capacity) return last
    const block = this.#arena.take()
    if (block === null) return null
    const part = emptyPart(block)
    this.#views(part).factors.fill(HIDDEN)
    this.#parts.push(part)
    return part
  }

  #hide(part: Part, at: number): void {
    const { factors } = this.#views(part)
    if (Number.isNaN(factors[at])) return
    factors[at] = HIDDEN
    this.#live--
    this.#hidden++
  }

  #move(from: Views, at: number, to: Part): void {
    const views = this.#views(to)
    const target = to.count++
    const width = this.#width
    views.rows.set(from.rows.subarray(at * width, (at + 1) * width), target * width)
    const noteId = from.notes[at] as number
    views.ids[target] = from.ids[at] as number
    views.notes[target] = noteId
    views.factors[target] = from.factors[at] as number
    to.firstNote = Math.min(to.firstNote, noteId)
    to.lastNote = Math.max(to.lastNote, noteId)
  }

  /** Made anew after the memory grew. */
  #views(part: Part): Views {
    const { bank, at } = part.block
    if (part.views?.buffer === bank.buffer) return part.views
    const { buffer } = bank
    const capacity = this.#capacity
    const idsAt = at + capacity * this.#width
    part.views = {
      buffer,
      rows: new Int8Array(buffer, at, capacity * this.#width),
      ids: new Float64Array(buffer, idsAt, capacity),
      notes: new Float64Array(buffer, idsAt + 8 * capacity, capacity),
      factors: new Float32Array(buffer, at + this.#factorsOffset, capacity),
    }
    return part.views
  }
}

export function rowsPerBlock(dimensions: number): number {
  const width = Math.ceil(dimensions / WIDTH_STEP) * WIDTH_STEP
  return Math.floor(BLOCK_BYTES / (width + BESIDE_BYTES) / ROW_STEP) * ROW_STEP
}

function emptyPart(block: Block): Part {
  return { block, count: 0, firstNote: Number.POSITIVE_INFINITY, lastNote: Number.NEGATIVE_INFINITY, views: undefined }
}

/** The numbers of the list from `first` to `last`. */
function between(ascending: readonly number[], first: number, last: number): readonly number[] {
  return ascending.slice(placeOf(ascending, first), placeOf(ascending, last + 1))
}

function placeOf(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Writes the row; what its product has to be multiplied by, or no number when there is something in it that is none. */
function quantize(halves: Uint16Array, rows: Int8Array, at: number): number {
  // Bits of absolute values have the order of the values.
  let largest = 0
  for (let i = 0; i < halves.length; i++) {
    const bits = (halves[i] as number) & 0x7fff
    if (bits > largest) largest = bits
  }
  if (largest >= FIRST_INFINITE) return HIDDEN
  if (largest === 0) {
    rows.fill(0, at, at + halves.length)
    return 0
  }
  const factor = 127 / (HALF_VALUES[largest] as number)
  let squares = 0
  for (let i = 0; i < halves.length; i++) {
    const value = HALF_VALUES[halves[i] as number] as number
    squares += value * value
    rows[at + i] = ((value * factor + 128.5) | 0) - 128
  }
  return 1 / (factor * Math.sqrt(squares))
}

function questionNumbers(question: Float32Array, width: number): Int16Array {
  let largest = 0
  for (const value of question) largest = Math.max(largest, Math.abs(value))
  const numbers = new Int16Array(width)
  if (largest > 0)
    for (const [i, value] of question.entries()) numbers[i] = Math.round((value * QUESTION_MAX) / largest)
  return numbers
}
