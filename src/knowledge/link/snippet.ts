import { occurrencesOf } from '../text/edit/occurrences.ts'
import { normalForm } from '../text/normal-form.ts'
import { readerCharacterAt } from '../text/reader-character.ts'
import { hasUnspaced } from '../text/unspaced.ts'

const AROUND = 120

/** The lines around a place, up to empty ones; what stands before the place may be shorter now. */
export function paragraphAt(text: string, at: number): { text: string; at: number } {
  const before = Math.max(text.lastIndexOf('\n\n', at), text.lastIndexOf('\n\r\n', at))
  const ends = [text.indexOf('\n\n', at), text.indexOf('\n\r\n', at)].filter((end) => end >= 0)
  const start = before < 0 ? 0 : before + 2
  return { text: text.slice(start, Math.min(text.length, ...ends)), at: at - start }
}

/** The place in a text with what stands around it, on one line; a cut is shown by "…". */
export function snippet(text: string, at: number, length: number): string {
  const start = Math.max(0, at - AROUND)
  const end = Math.min(text.length, at + length + AROUND)
  const from = Math.min(at, readerCharacterAt(text, wordStart(text, start, at)).end)
  const to = Math.max(at + length, readerCharacterAt(text, wordEnd(text, end, at + length)).start)
  const cut = text.slice(from, to).toWellFormed()
  const line = cut.replace(/\s+/g, ' ').trim()
  return `${start > 0 ? '…' : ''}${line}${end < text.length ? '…' : ''}`
}

// A single blank needs no other in its place: nearly all are single.
const BLANKS = /\s{2,}|[^\S ]/g

/**
 * Where a phrase stands in a text, whatever its case, blanks and Unicode form; null when nowhere, or only inside longer words. What is
 * answered of the text is in form C.
 */
export function findPhrase(text: string, phrase: string): { text: string; at: number; length: number } | null {
  const line = normalForm(text, 'NFC').replace(BLANKS, ' ')
  const lower = lowerInPlace(line)
  const wanted = lowerInPlace(normalForm(phrase, 'NFC').replace(BLANKS, ' ').trim())
  const at = occurrencesOf(lower, wanted).find((start) => isWhole(lower, start, start + wanted.length))
  return at === undefined ? null : { text: line, at, length: wanted.length }
}

/** Every letter stays at its place. Of all letters only this one has a longer lower case. */
export function lowerInPlace(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase()
}

function isWhole(text: string, start: number, end: number): boolean {
  return !(isWord(text, start - 1) && isWord(text, start)) && !(isWord(text, end - 1) && isWord(text, end))
}

// Scripts without blanks between words have no words to be inside of.
const WORD = /[\p{L}\p{N}_]/u

function isWord(text: string, at: number): boolean {
  const character = text[at]
  return character !== undefined && WORD.test(character) && !hasUnspaced(character)
}

function wordStart(text: string, start: number, latest: number): number {
  if (start === 0) return 0
  const blank = text.indexOf(' ', start)
  return blank < 0 || blank >= latest ? start : blank + 1
}

function wordEnd(text: string, end: number, earliest: number): number {
  if (end === text.length) return end
  const blank = text.lastIndexOf(' ', end)
  return blank <= earliest ? end : blank
}
