import { indexWords } from './search-text.ts'

/** A place in a text, and the words that it is in the index. */
export interface WordPlace {
  start: number
  end: number
  words: readonly string[]
  /** One or two characters of a script without spaces: equal to what is looked for, or not at all. */
  isExact: boolean
}

const RUN = /[\p{L}\p{N}\p{M}]+/uy
const LETTER = /[\p{L}\p{N}\p{M}]/u
const MARK = /[\p{M}ﾞﾟ]/u
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ﾞﾟ]/u
// Half-width voice marks of Japanese count as letters, but change the one before.
const CHARACTER = /[^\p{M}ﾞﾟ][\p{M}ﾞﾟ]*|[\p{M}ﾞﾟ]/gu

const ASCII = 128
const ASCII_LETTERS = new Uint8Array(ASCII)
for (let code = 0; code < ASCII; code++) if (/[a-z0-9]/i.test(String.fromCharCode(code))) ASCII_LETTERS[code] = 1

/**
 * The places of words in a text that may begin with one of these characters, which few words of a text do: the others are passed
 * over without being read.
 */
export function* wordPlaces(text: string, beginnings: ReadonlySet<number>): Generator<WordPlace> {
  for (let at = 0; at < text.length; ) {
    if (!isLetterAt(text, at)) {
      at++
      continue
    }
    const end = asciiEnd(text, at)
    if (end > at && (end === text.length || !isLetterAt(text, end))) {
      if (beginnings.has(firstCode(text, at))) {
        yield { start: at, end, words: [text.slice(at, end).toLowerCase()], isExact: false }
      }
      at = end
      continue
    }
    RUN.lastIndex = at
    const run = RUN.exec(text)?.[0] ?? ' '
    if (UNSPACED.test(run)) yield* unspacedPlaces(run, at, beginnings)
    else if (mayBegin(run, 0, beginnings)) yield spacedPlace(run, 0, run.length, at)
    at += run.length
  }
}

/** Whether a word of a question is one or two characters of such a script. */
export function isUnspaced(word: string): boolean {
  return UNSPACED.test(word)
}

function isLetterAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < ASCII) return ASCII_LETTERS[code] === 1
  return LETTER.test(String.fromCodePoint(text.codePointAt(at) as number))
}

function asciiEnd(text: string, start: number): number {
  let end = start
  while (end < text.length && text.charCodeAt(end) < ASCII && ASCII_LETTERS[text.charCodeAt(end)] === 1) end++
  return end
}

/** Each character and each pair of neighbours, as the index has them. */
function* unspacedPlaces(run: string, offset: number, beginnings: ReadonlySet<number>): Generator<WordPlace> {
  let spacedFrom = -1
  let before: RegExpExecArray | null = null
  for (const match of run.matchAll(CHARACTER)) {
    const [text] = match
    if (!UNSPACED.test(text)) {
      if (spacedFrom === -1) spacedFrom = match.index
      before = null
      continue
    }
    if (spacedFrom !== -1) yield spacedPlace(run, spacedFrom, match.index, offset)
    spacedFrom = -1
    const end = offset + match.index + text.length
    if (before !== null && mayBegin(run, before.index, beginnings)) {
      yield { start: offset + before.index, end, words: indexWords(before[0] + text).slice(0, 1), isExact: true }
    }
    if (mayBegin(run, match.index, beginnings)) {
      yield { start: offset + match.index, end, words: indexWords(text).slice(0, 1), isExact: true }
    }
    before = match
  }
  if (spacedFrom !== -1) yield spacedPlace(run, spacedFrom, run.length, offset)
}

function spacedPlace(run: string, start: number, end: number, offset: number): WordPlace {
  return { start: offset + start, end: offset + end, words: indexWords(run.slice(start, end)), isExact: false }
}

/** A character with marks behind it may become any other. */
function mayBegin(run: string, at: number, beginnings: ReadonlySet<number>): boolean {
  const code = firstCode(run, at)
  if (code === OF_PAIR || beginnings.has(code)) return true
  return at + 1 < run.length && MARK.test(run[at + 1] as string)
}

const OF_PAIR = -1
const NOT_KNOWN = -2
const FIRST_CODES = new Int32Array(0x10000).fill(NOT_KNOWN)

/** What a word that begins with this character begins with in the index. */
function firstCode(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (FIRST_CODES[code] === NOT_KNOWN) {
    const character = text[at] as string
    FIRST_CODES[code] = character.isWellFormed() ? (indexWords(character)[0]?.charCodeAt(0) ?? 0) : OF_PAIR
  }
  return FIRST_CODES[code] as number
}
