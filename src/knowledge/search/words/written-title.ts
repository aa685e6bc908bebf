import { indexWords } from './search-text.ts'

/** How well a title is what somebody wrote: in the same words, or letter by letter. `C` has the words of `C++` and is not spelled so. */
export const TITLE_MATCH = { none: 0, sameWords: 1, sameSpelling: 2 } as const
export type TitleMatch = (typeof TITLE_MATCH)[keyof typeof TITLE_MATCH]

// A longer text is no title.
const LONGEST = 1_000
const MOST_WORDS = 32
const NOTE_TYPE = /\.md$/i

/** A text that may be the title of a note, in whatever spelling. */
export class WrittenTitle {
  readonly text: string
  readonly #words: string
  readonly #spelling: string

  constructor(text: string) {
    this.text = text.length > LONGEST ? '' : text.trim()
    const words = wordsOf(this.text)
    this.#words = words.length > MOST_WORDS ? '' : words.join(' ')
    this.#spelling = words.length > MOST_WORDS ? '' : spelling(this.text)
  }

  /** Whether there may be such a title. */
  get isPossible(): boolean {
    return this.#spelling !== ''
  }

  match(title: string): TitleMatch {
    if (!this.isPossible) return TITLE_MATCH.none
    if (spelling(title) === this.#spelling) return TITLE_MATCH.sameSpelling
    const isSame = this.#words !== '' && wordsOf(title).join(' ') === this.#words
    return isSame ? TITLE_MATCH.sameWords : TITLE_MATCH.none
  }
}

function wordsOf(text: string): string[] {
  return indexWords(text.replace(NOTE_TYPE, ''))
}

function spelling(text: string): string {
  return text.trim().normalize('NFC').toLowerCase()
}
