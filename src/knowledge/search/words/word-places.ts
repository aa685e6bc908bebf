import { ASCII, LETTERS } from './ascii-letters.ts'
import { LETTER_SIGNS, PICTURE, UNSEEN } from './letter-signs.ts'
import { indexWords, PICTURE_MARK, unspacedStretch } from './search-text.ts'
import { UnspacedRun } from './unspaced-run.ts'

/** A place in a text, and the words that it is in the index. */
export interface WordPlace {
  start: number
  end: number
  words: readonly string[]
}

const RUN = new RegExp(String.raw`[\p{L}\p{N}\p{M}${LETTER_SIGNS}${UNSEEN}]+`, 'uy')
const LETTER = new RegExp(String.raw`[\p{L}\p{N}\p{M}${LETTER_SIGNS}${UNSEEN}]`, 'u')
// With what changes its look, or joins it to the next one.
const WHOLE_PICTURE = new RegExp(String.raw`${PICTURE}[\u200d\ufe0e\ufe0f\u{1f3fb}-\u{1f3ff}]*`, 'uy')
const FIRST_PICTURE = 0x2300
const MARK = /[\p{M}ﾞﾟ]/u

/**
 * The places of words in a text that may begin with one of these characters, which few words of a text do: the others are passed
 * over without being read. Whatever is written without spaces is left to the caller to look into.
 */
export function* wordPlaces(text: string, beginnings: ReadonlySet<number>): Generator<WordPlace | UnspacedRun> {
  const arePicturesWanted = beginnings.has(PICTURE_MARK.charCodeAt(0))
  for (let at = 0; at < text.length; ) {
    if (!isLetterAt(text, at)) {
      const picture = arePicturesWanted ? pictureAt(text, at) : ''
      if (picture !== '') yield { start: at, end: at + picture.length, words: indexWords(picture) }
      at += picture.length || 1
      continue
    }
    const end = asciiEnd(text, at)
    if (end > at && (end === text.length || !isLetterAt(text, end))) {
      if (beginnings.has(firstCode(text, at))) {
        yield { start: at, end, words: [text.slice(at, end).toLowerCase()] }
      }
      at = end
      continue
    }
    RUN.lastIndex = at
    const run = RUN.exec(text)?.[0] ?? ' '
    yield* runPlaces(run, at, beginnings)
    at += run.length
  }
}

function pictureAt(text: string, at: number): string {
  if (text.charCodeAt(at) < FIRST_PICTURE) return ''
  WHOLE_PICTURE.lastIndex = at
  return WHOLE_PICTURE.exec(text)?.[0] ?? ''
}

function isLetterAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < ASCII) return LETTERS[code] !== 0
  return LETTER.test(String.fromCodePoint(text.codePointAt(at) as number))
}

function asciiEnd(text: string, start: number): number {
  let end = start
  while (end < text.length && text.charCodeAt(end) < ASCII && LETTERS[text.charCodeAt(end)] !== 0) end++
  return end
}

function* runPlaces(run: string, offset: number, beginnings: ReadonlySet<number>): Generator<WordPlace | UnspacedRun> {
  let end = 0
  for (let next = unspacedStretch(run, 0); next !== null; next = unspacedStretch(run, end)) {
    const { index, 0: stretch } = next
    if (index > end && mayBegin(run, end, beginnings)) yield spacedPlace(run, end, index, offset)
    yield new UnspacedRun(stretch, offset + index)
    end = index + stretch.length
  }
  if (end < run.length && mayBegin(run, end, beginnings)) yield spacedPlace(run, end, run.length, offset)
}

function spacedPlace(run: string, start: number, end: number, offset: number): WordPlace {
  return { start: offset + start, end: offset + end, words: indexWords(run.slice(start, end)) }
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
    FIRST_CODES[code] = character.isWellFormed() ? (indexWords(character)[0]?.charCodeAt(0) ?? OF_PAIR) : OF_PAIR
  }
  return FIRST_CODES[code] as number
}
