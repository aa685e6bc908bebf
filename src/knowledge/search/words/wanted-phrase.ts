import { PICTURE } from './letter-signs.ts'
import type { PhrasePart } from './phrase-parts.ts'
import { MOST_PLACES, type Place } from './place.ts'
import type { UnspacedRun } from './unspaced-run.ts'

type Span = Pick<Place, 'start' | 'end'>

const WIDEST_GAP = 40
const WORD = new RegExp(String.raw`[\p{L}\p{N}\p{M}]|${PICTURE}`, 'u')

/**
 * A phrase of a question, which is told what a text has, in the order of the text. Which of its beginnings end at a place is one
 * number, however often it repeats a word: the bit of each part whose phrase has come so far. A question has 32 parts at most.
 */
export class WantedPhrase {
  readonly #parts: readonly PhrasePart[]
  /** Of its first part; the others have the next ones. */
  readonly #term: number
  readonly #lastBit: number
  /** What a word is of it, and what a whole run is: the bits of these parts. */
  readonly #words = new Map<string, number>()
  readonly #runs = new Map<string, number>()
  readonly #firstRun: string | null
  readonly #lastRun: string | null
  /** Its last word, where longer ones that begin so are meant, too. */
  readonly #begunWord: string | null
  #text = ''
  /** Where what it finds goes. */
  #places: Place[] = []
  /** The parts that end here: `bora bora` begins at every `bora`. */
  #begun = 0
  #end = 0
  /** The last places, each where its part would be in the middle of the phrase. */
  readonly #spans: Span[] = []
  /** Likewise, where it would begin the phrase. */
  readonly #firstSpans: Span[] = []
  #steps = 0

  constructor(parts: readonly PhrasePart[], isLastBeginning: boolean, term: number) {
    const last = parts.length - 1
    const runAt = (index: number) => (parts[index]?.isRun === true ? parts[index].text : null)
    this.#parts = parts
    this.#term = term
    this.#lastBit = 1 << last
    this.#firstRun = runAt(0)
    this.#lastRun = runAt(last)
    this.#begunWord = isLastBeginning && this.#lastRun === null ? (parts[last] as PhrasePart).text : null
    for (const [index, { text, isRun }] of parts.entries()) {
      if (isRun && (index === 0 || index === last)) continue
      const known = isRun ? this.#runs : this.#words
      known.set(text, (known.get(text) ?? 0) | (1 << index))
    }
  }

  beginText(text: string, places: Place[]): void {
    this.#text = text
    this.#places = places
    this.#begun = 0
  }

  goOn(word: string, span: Span): void {
    const own = this.#words.get(word) ?? 0
    const bits = this.#begunWord !== null && word.startsWith(this.#begunWord) ? own | this.#lastBit : own
    this.#step(bits, span, span, span)
  }

  /** Between its first and its last part a phrase has whole runs only. */
  goOnInRun(run: UnspacedRun): void {
    const [first, last] = [this.#firstRun, this.#lastRun]
    if (first === null && last === null && this.#runs.size === 0) return
    let from = 0
    for (const letters of run.letters.split(' ')) {
      const to = from + letters.length
      let bits = this.#runs.get(letters) ?? 0
      if (first !== null && letters.endsWith(first)) bits |= 1
      if (last !== null && letters.startsWith(last)) bits |= this.#lastBit
      if ((((this.#begun << 1) | 1) & bits) !== 0) {
        const firstSpan = run.placeOf((bits & 1) === 0 ? from : to - (first as string).length, to)
        const lastSpan = run.placeOf(from, (bits & this.#lastBit) === 0 ? to : from + (last as string).length)
        this.#step(bits, run.placeOf(from, to), firstSpan, lastSpan)
      } else if (letters !== '') this.#begun = 0
      from = to + 1
    }
  }

  /** Something that is these of its parts: each beginning that it stands beside goes on with it, and all others end. */
  #step(bits: number, span: Span, firstSpan: Span, lastSpan: Span): void {
    const goingOn = (this.#begun << 1) & bits
    this.#begun = (bits & 1) | (goingOn !== 0 && this.#isBeside(span) ? goingOn : 0)
    if (this.#begun === 0) return
    const at = this.#steps++ % this.#parts.length
    this.#spans[at] = span
    this.#firstSpans[at] = firstSpan
    this.#end = span.end
    if ((this.#begun & this.#lastBit) !== 0) this.#complete(at, lastSpan)
  }

  /** The last of its parts stands here, the others at the last places before. */
  #complete(at: number, lastSpan: Span): void {
    if (this.#places.length >= MOST_PLACES) return
    const count = this.#parts.length
    const first = this.#firstSpans[(at + 1) % count] as Span
    const phrase = { start: first.start, end: lastSpan.end }
    for (let index = 0; index < count; index++) {
      const inner = this.#spans[(at + 1 + index) % count] as Span
      const span = index === 0 ? first : index === count - 1 ? lastSpan : inner
      this.#places.push({ start: span.start, end: span.end, terms: [this.#term + index], phrase })
    }
  }

  #isBeside({ start }: Span): boolean {
    const end = this.#end
    // One sign may be several words, as ½ is; others have a blank between them.
    if (start < end || (start === end + 1 && this.#text[end] === ' ')) return true
    return start - end <= WIDEST_GAP && !WORD.test(this.#text.slice(end, start))
  }
}
