/**
 * What a word is, the same on both engines: a run of letters and digits, in lower case and without accents. Scripts
 * that are written without spaces are cut into pairs of characters that overlap.
 *
 * SQLite's own tokenizer (unicode61) reads words once more. It agrees with us on plain text, which is therefore given to it as it
 * is, and it leaves our words alone because they hold only what it takes for letters.
 */

import { normalForm } from '../../text/normal-form.ts'
import { HALF_WIDTH_MARKS, UNSPACED_SCRIPTS } from '../../text/unspaced.ts'
import { LETTERS as ASCII_LETTERS } from './ascii-letters.ts'
import { cutBefore } from './cut-text.ts'
import { PICTURE, UNSEEN, UNSPACED_SIGNS } from './letter-signs.ts'
import { withoutVariants } from './letter-variants.ts'

/** A longer one is found by its beginning. PostgreSQL takes 2,046 bytes. */
export const LONGEST_WORD = 500

// Everything that unicode61 treats as we do; search-text.test.ts compares character by character.
const NOT_PLAIN =
  /[^\0-\xa9\xab\xac\xae-\xb1\xb4-\xb8\xbb\xbf-\xc5\xc7-\xcf\xd1-\xd7\xd9-\xdd\xe0-\xe5\xe7-\xef\xf1-\xf7\xf9-\xfd\xff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u25ff]/
const NOT_ASCII = /[^\0-\x7f]/
// More than twice as long as a word, so that one which goes beyond a piece is cut in it.
const LONGEST_PIECE = 4_096

const ASCII_WORD = /[a-z0-9]+/g
const WORD = new RegExp(String.raw`[\p{L}\p{N}\p{M}]+|${PICTURE}`, 'gu')
const IS_PICTURE = new RegExp(`^${PICTURE}$`, 'u')
// Accents, the vowel points of Hebrew and Arabic, which most people leave out, and what nobody sees.
const OPTIONAL = new RegExp(
  String.raw`[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670${UNSEEN}]`,
  'gu',
)
// unicode61 would end a word at these; they become characters for private use, which it takes for letters.
const NO_LETTERS_THERE = /[\p{M}\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3]/gu
const PRIVATE_USE = 0xe000
const PRIVATE_USE_SIZE = 6400
// What a picture is written as begins so: unicode61 takes no picture for a letter.
export const PICTURE_MARK = '\uf8ff'
// A word for unicode61, and none of ours.
const LINE_END = ' \uf8ff '
const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]+`, 'gu')
const NOT_UNSPACED = new RegExp(`[^${UNSPACED_SCRIPTS}]`, 'gu')
const UNSPACED_STRETCH = new RegExp(
  String.raw`[${UNSPACED_SCRIPTS}${UNSPACED_SIGNS}${HALF_WIDTH_MARKS}][${UNSPACED_SCRIPTS}${UNSPACED_SIGNS}\p{M}${HALF_WIDTH_MARKS}${UNSEEN}]*`,
  'gu',
)
// Kana, Chinese characters and syllables of Korean, which the index has as they are written. Finding that out by folding them is slow.
const ONLY_AS_KEPT = /^[\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff\uac00-\ud7a3]+$/
const UNSPACED_WORD = new RegExp(String.raw`^[${UNSPACED_SCRIPTS}\ue000-\uf8ff]{1,2}$`, 'u')
// Scripts without spaces, and pictures; most texts that are not plain hold none.
const BEHIND_ALPHABETS = /[\u0e00-\u109f\u1100-\uffff]/

/** For a column of SQLite's index. */
export function columnText(text: string): string {
  return NOT_PLAIN.test(text) || hasLongWord(text) ? indexWords(text).join(' ') : text
}

/** Likewise, with something between the lines that nobody asks for: no phrase begins on one and ends on the next. */
export function linesText(text: string): string {
  return text.split('\n').map(columnText).join(LINE_END)
}

/** Whether a word of a plain text has to be cut. What looks like a letter here may be none, which does no harm. */
function hasLongWord(text: string): boolean {
  // Such a word stands over one of these places.
  for (let at = LONGEST_WORD; at < text.length; at += LONGEST_WORD) {
    let [start, end] = [at, at]
    while (start > 0 && mayBeLetter(text.charCodeAt(start - 1))) start--
    while (end < text.length && end - start <= LONGEST_WORD && mayBeLetter(text.charCodeAt(end))) end++
    if (end - start > LONGEST_WORD) return true
  }
  return false
}

function mayBeLetter(code: number): boolean {
  return code > 0x7f || ASCII_LETTERS[code] !== 0
}

/** The words of a text in their order, as they are kept. */
export function indexWords(text: string): string[] {
  if (text.length <= LONGEST_PIECE) return words(text, true)
  const all: string[] = []
  for (const some of wordsInPieces(text)) for (const word of some) all.push(word)
  return all
}

/** The same, some at a time. No more than a few thousand characters are read at once. */
export function wordsInPieces(text: string, longest = LONGEST_PIECE): Iterable<string[]> {
  return text.length <= longest ? [words(text, true)] : wordsOfPieces(text, longest)
}

function* wordsOfPieces(text: string, longest: number): Generator<string[]> {
  let start = 0
  let isInWord = false
  while (text.length - start > longest) {
    const cut = cutBefore(text, start + longest / 2, start + longest)
    const some = pieceWords(text.slice(start, cut.end), isInWord)
    // What stands in both pieces is read with the next one.
    if (cut.next < cut.end) some.length -= words(text.slice(cut.next, cut.end), true).length
    yield some
    start = cut.next
    isInWord = cut.isInWord
  }
  yield pieceWords(text.slice(start), isInWord)
}

function pieceWords(piece: string, isInWord: boolean): string[] {
  // What the word goes on with is read as if it began with this letter, and left out.
  return isInWord ? words(`x${piece}`, true).slice(1) : words(piece, true)
}

/** The words of a question. One that was cut, and the only character of its run, is found by prefix. */
export function queryWords(text: string): string[] {
  return words(text, false)
}

/** The next stretch of a run of letters, as it is written, that is cut into pairs. */
export function unspacedStretch(run: string, from: number): RegExpExecArray | null {
  UNSPACED_STRETCH.lastIndex = from
  return UNSPACED_STRETCH.exec(run)
}

/** The characters of such a stretch of which the index makes pairs; blank for what is none of them. */
export function unspacedLetters(stretch: string): string {
  if (ONLY_AS_KEPT.test(stretch)) return stretch
  return folded(stretch).replace(NOT_UNSPACED, ' ').replace(NO_LETTERS_THERE, toPrivateUse)
}

/** Whether a word of the index or of a question is one of such characters, or a pair. */
export function isUnspacedWord(word: string): boolean {
  return UNSPACED_WORD.test(word)
}

export function isAscii(text: string): boolean {
  return !NOT_ASCII.test(text)
}

function words(text: string, isKept: boolean): string[] {
  if (isAscii(text)) return (text.toLowerCase().match(ASCII_WORD) ?? []).map(cut)
  const found: string[] = []
  for (const [run] of folded(text).matchAll(WORD)) {
    if (!BEHIND_ALPHABETS.test(run)) found.push(cut(run.replace(NO_LETTERS_THERE, toPrivateUse)))
    else if (IS_PICTURE.test(run)) found.push(pictureWord(run))
    else addMixed(found, run, isKept)
  }
  return found
}

/** By the numbers of its characters, none of which is the beginning of another. */
function pictureWord(picture: string): string {
  return PICTURE_MARK + Array.from(picture, (character) => character.codePointAt(0)).join('')
}

function folded(text: string): string {
  const plain = normalForm(text, 'NFKD').toLowerCase().replace(OPTIONAL, '')
  return withoutVariants(normalForm(plain, 'NFC'))
}

function addMixed(found: string[], run: string, isKept: boolean): void {
  let end = 0
  for (const match of run.matchAll(UNSPACED)) {
    if (match.index > end) found.push(cut(run.slice(end, match.index).replace(NO_LETTERS_THERE, toPrivateUse)))
    addPairs(found, [...match[0].replace(NO_LETTERS_THERE, toPrivateUse)], isKept)
    end = match.index + match[0].length
  }
  if (end < run.length) found.push(cut(run.slice(end).replace(NO_LETTERS_THERE, toPrivateUse)))
}

/** The last character is kept once more by itself, so that each one begins a word and is found by prefix. */
function addPairs(found: string[], characters: readonly string[], isKept: boolean): void {
  for (let i = 1; i < characters.length; i++) found.push(`${characters[i - 1]}${characters[i]}`)
  if (isKept || characters.length === 1) found.push(characters.at(-1) as string)
}

function toPrivateUse(mark: string): string {
  return String.fromCharCode(PRIVATE_USE + ((mark.codePointAt(0) as number) % PRIVATE_USE_SIZE))
}

function cut(word: string): string {
  return word.length <= LONGEST_WORD ? word : word.slice(0, LONGEST_WORD).toWellFormed()
}
