import { ownText } from '../../text/own-text.ts'
import { plainWords } from './plain-words.ts'

const UNKNOWN = '[UNK]'
const CONTINUED = '##'
// A longer word is no word: the reference gives it up, too.
const LONGEST_WORD = 100
const MOST_REMEMBERED = 50_000

const SPACE = 1
const PUNCTUATION = 2
const KINDS = asciiKinds()

function asciiKinds(): Uint8Array {
  const kinds = new Uint8Array(128)
  for (let code = 0; code <= 32; code++) kinds[code] = SPACE
  for (let code = 33; code < 127; code++) {
    if (!/[0-9A-Za-z]/.test(String.fromCharCode(code))) kinds[code] = PUNCTUATION
  }
  return kinds
}

/** Word pieces as BERT's uncased tokenizer makes them, without its special tokens. */
export class Tokenizer {
  readonly unknown: number
  readonly #starts = new Map<string, number>()
  readonly #continuations = new Map<string, number>()
  readonly #longestPiece: number
  /** What words were split into: text repeats them. */
  readonly #remembered = new Map<string, readonly number[]>()

  constructor(vocabulary: readonly string[]) {
    let longest = 1
    for (const [id, token] of vocabulary.entries()) {
      const isContinued = token.startsWith(CONTINUED) && token.length > CONTINUED.length
      const piece = isContinued ? token.slice(CONTINUED.length) : token
      const pieces = isContinued ? this.#continuations : this.#starts
      pieces.set(piece, id)
      longest = Math.max(longest, piece.length)
    }
    this.#longestPiece = longest
    this.unknown = this.#starts.get(UNKNOWN) ?? 0
  }

  encode(text: string): number[] {
    const words = plainWords(text)
    const ids: number[] = []
    const end = words.length
    let start = -1
    for (let at = 0; at < end; at++) {
      const code = words.charCodeAt(at)
      const kind = code < 128 ? KINDS[code] : 0
      if (kind === 0) {
        if (start < 0) start = at
        continue
      }
      if (start >= 0) this.#addWord(words.slice(start, at), ids)
      start = -1
      if (kind === PUNCTUATION) this.#addWord(words.charAt(at), ids)
    }
    if (start >= 0) this.#addWord(words.slice(start), ids)
    return ids
  }

  #addWord(word: string, ids: number[]): void {
    const known = this.#remembered.get(word)
    const pieces = known ?? this.#pieces(word)
    if (known === undefined && word.length <= LONGEST_WORD) this.#remember(word, pieces)
    for (const piece of pieces) ids.push(piece)
  }

  #remember(word: string, pieces: readonly number[]): void {
    if (this.#remembered.size >= MOST_REMEMBERED) this.#remembered.clear()
    this.#remembered.set(ownText(word), pieces)
  }

  #pieces(word: string): readonly number[] {
    if (isTooLong(word)) return [this.unknown]
    const pieces: number[] = []
    let start = 0
    while (start < word.length) {
      const known = start === 0 ? this.#starts : this.#continuations
      let end = Math.min(word.length, start + this.#longestPiece)
      let id = known.get(word.slice(start, end))
      while (id === undefined && end > start + 1) {
        end--
        id = known.get(word.slice(start, end))
      }
      if (id === undefined) return [this.unknown]
      pieces.push(id)
      start = end
    }
    return pieces
  }
}

function isTooLong(word: string): boolean {
  if (word.length <= LONGEST_WORD) return false
  if (word.length > 2 * LONGEST_WORD) return true
  return Array.from(word).length > LONGEST_WORD
}
