import { plainLatin } from './latin.ts'

/** What a character beyond ASCII is in a name. */
export const KIND = {
  /** Punctuation, blanks: divides words. */
  divider: 1,
  /** A letter or digit of a script that is kept. */
  letter: 2,
  /** Belongs to the letter before. */
  mark: 3,
  /** An ideograph or a CJK symbol. */
  cjk: 4,
  /** Not seen by a reader: two names that differ in it look the same. */
  invisible: 5,
  /** Has an equivalent in ASCII letters. */
  latin: 6,
  apostrophe: 7,
  /** Pictures, signs of currency and calculation: divide words, but tell names apart. */
  symbol: 8,
  /** A letter, digit or sign of full width: no part of a slug. */
  wide: 9,
} as const

export type Kind = (typeof KIND)[keyof typeof KIND]

const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/u
const LETTER = /[\p{L}\p{Nd}\p{Nl}]/u
const MARK = /\p{M}/u
const SYMBOL = /[\p{S}\p{No}\p{Co}]/u
const APOSTROPHES = new Set([0x2018, 0x2019, 0x201b, 0x2bb, 0x2bc])

// Filled as characters occur; 64 KiB however many do.
const known = new Uint8Array(0x10000)

export function kindOf(codePoint: number): Kind {
  if (codePoint > 0xffff) return classify(codePoint)
  const kind = known[codePoint] as Kind | 0
  if (kind !== 0) return kind
  const found = classify(codePoint)
  known[codePoint] = found
  return found
}

function classify(codePoint: number): Kind {
  const character = String.fromCodePoint(codePoint)
  if (within(codePoint, 0xff00, 0xffef)) {
    return LETTER.test(character) || SYMBOL.test(character) ? KIND.wide : KIND.invisible
  }
  if (isCjk(codePoint)) return KIND.cjk
  if (APOSTROPHES.has(codePoint)) return KIND.apostrophe
  if (INVISIBLE.test(character)) return KIND.invisible
  if (plainLatin(codePoint) !== undefined) return KIND.latin
  if (LETTER.test(character)) return KIND.letter
  if (MARK.test(character)) return KIND.mark
  return SYMBOL.test(character) ? KIND.symbol : KIND.divider
}

function isCjk(codePoint: number): boolean {
  // NOTE: U+3000 is a blank and divides words like any other.
  return (
    within(codePoint, 0x3001, 0x303f) ||
    within(codePoint, 0x3400, 0x4dbf) ||
    within(codePoint, 0x4e00, 0x9fff) ||
    within(codePoint, 0x20000, 0x323af)
  )
}

function within(codePoint: number, first: number, last: number): boolean {
  return codePoint >= first && codePoint <= last
}
