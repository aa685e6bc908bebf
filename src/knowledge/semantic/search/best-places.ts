/** The places with the highest scores, at most so many: a heap whose top is the least of them. */
export class BestPlaces {
  readonly #most: number
  readonly #scores: Float64Array
  readonly #places: Float64Array
  #count = 0

  constructor(most: number) {
    this.#most = most
    this.#scores = new Float64Array(most)
    this.#places = new Float64Array(most)
  }

  /** Whoever does not score more than this has no chance. */
  get least(): number {
    if (this.#most === 0) return Number.POSITIVE_INFINITY
    return this.#count < this.#most ? Number.NEGATIVE_INFINITY : (this.#scores[0] as number)
  }

  add(place: number, score: number): void {
    if (!(score > this.least)) return
    if (this.#count < this.#most) this.#rise(this.#count++, place, score)
    else this.#sink(place, score)
  }

  /** In no particular order. */
  places(): number[] {
    return [...this.#places.subarray(0, this.#count)]
  }

  #rise(from: number, place: number, score: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if ((this.#scores[parent] as number) <= score) break
      this.#move(parent, at)
      at = parent
    }
    this.#set(at, place, score)
  }

  /** Takes the place of the top. */
  #sink(place: number, score: number): void {
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= this.#count) break
      if (child + 1 < this.#count && (this.#scores[child + 1] as number) < (this.#scores[child] as number)) child++
      if ((this.#scores[child] as number) >= score) break
      this.#move(child, at)
      at = child
    }
    this.#set(at, place, score)
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#places[from] as number, this.#scores[from] as number)
  }

  #set(at: number, place: number, score: number): void {
    this.#places[at] = place
    this.#scores[at] = score
  }
}
