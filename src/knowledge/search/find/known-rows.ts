import type { Reader } from '../../../platform/storage/database.ts'
import { matchingRowsOf } from '../index/store-search-index.ts'
import { rowOf } from '../row-number.ts'
import { type MatchingPage, matchingPages } from './matching-pages.ts'

/**
 * What of single notes matches. Looking a note up takes the index up to milliseconds where a word is common, and thousands of rows
 * side by side no longer: those are read from the newest note backwards, as far as notes are asked for.
 */
export class KnownRows {
  readonly #reader: Reader
  readonly #expression: string
  readonly #pages: AsyncGenerator<MatchingPage>
  readonly #rows = new Map<number, number[]>()
  /** All rows of notes behind this one are known. */
  #knownTo = Number.POSITIVE_INFINITY
  #lookups: number
  #isWhole = true

  constructor(
    reader: Reader,
    expression: string,
    first: MatchingPage,
    limits: { rows: number; allRows: number; lookedUp: number },
  ) {
    this.#reader = reader
    this.#expression = expression
    this.#lookups = limits.lookedUp
    this.#pages = matchingPages(reader, expression, limits, first)
    this.#add(first)
  }

  /** False: some of the notes that were asked for could not be looked at. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  async rowsOf(noteIds: readonly number[]): Promise<number[]> {
    const isUnknown = (id: number) => id <= this.#knownTo
    if (noteIds.filter(isUnknown).length > this.#lookups) await this.#readTo(Math.min(...noteIds))
    const unknown = noteIds.filter(isUnknown)
    const lookedUp = unknown.slice(0, this.#lookups)
    this.#lookups -= lookedUp.length
    if (lookedUp.length < unknown.length) this.#isWhole = false
    const known = noteIds.filter((id) => !isUnknown(id)).flatMap((id) => this.#rows.get(id) ?? [])
    return [...known, ...(await matchingRowsOf(this.#reader, this.#expression, lookedUp))]
  }

  async #readTo(noteId: number): Promise<void> {
    while (noteId <= this.#knownTo) {
      const { value, done } = await this.#pages.next()
      if (done) return
      this.#add(value)
    }
  }

  #add({ numbers, isLast }: MatchingPage): void {
    for (const number of numbers) {
      const { noteId } = rowOf(number)
      const rows = this.#rows.get(noteId)
      if (rows === undefined) this.#rows.set(noteId, [number])
      else rows.push(number)
    }
    const last = numbers.at(-1)
    // Of the last note some rows may be missing.
    if (isLast) this.#knownTo = Number.NEGATIVE_INFINITY
    else if (last !== undefined) this.#knownTo = rowOf(last).noteId
  }
}
