import { hash } from 'node:crypto'
import { normalForm } from '../normal-form.ts'
import { KIND, kindOf } from './char-kind.ts'
import { fileTypeStart } from './file-type.ts'
import { plainLatin } from './latin.ts'
import { joinedSlug } from './slug.ts'

const LONGEST_NAME = 4000
// Together with a literal name of 500 characters it must fit into an index entry of PostgreSQL: 2,704 bytes.
const LONGEST_KEY = 300
const KEPT_OF_LONGER = 200
const NOT_ASCII = /[^\0-\x7f]/

/**
 * Under which notes are looked up by any of their names. Names with the same slug, names that differ only in case, in
 * hyphens, blanks and underscores, or in a known file extension have the same key; never empty.
 */
export function nameKey(text: string): string {
  // No note has such a name, so nothing but itself needs to have the same key.
  if (text.length > LONGEST_NAME) return shorten(text)
  const key = withoutFileTypes(joinedSlug(text)) || fold(text.slice(0, fileTypeStart(text)), false) || '-'
  return key.length <= LONGEST_KEY ? key : shorten(key)
}

/**
 * Paths with the same key differ only in case, Unicode form, and how their words are divided. Unlike in a slug, symbols
 * count: `C++.md` and `C#.md` are two notes.
 */
export function twinKey(path: string): string {
  return foldPath(path, false)
}

/** Whether two paths are too much alike to be two notes: the same but for spelling, or `TestNote` and `test-note`. */
export function areTwins(path: string, other: string): boolean {
  return twinKey(path) === twinKey(other) || foldPath(path, true) === foldPath(other, true)
}

/** Whether two names are the same letters, in whatever Unicode form they were typed. */
export function isSameName(name: string | null, other: string): boolean {
  if (name === null || name === other) return name === other
  // Letters of ASCII have one form; most names are made of nothing else, and one is compared with hundreds.
  if (!(NOT_ASCII.test(name) || NOT_ASCII.test(other))) return false
  return normalForm(name, 'NFC') === normalForm(other, 'NFC')
}

/** What is compared byte by byte with names that are kept as they were typed is looked for in each of these forms. */
export function unicodeSpellings(name: string): string[] {
  return NOT_ASCII.test(name) ? [...new Set([name, normalForm(name, 'NFC'), normalForm(name, 'NFD')])] : [name]
}

function withoutFileTypes(joined: string): string {
  let end = joined.length
  // The slug of `notes.md.md` is `notes.md`, and both name the note.
  for (let start = fileTypeStart(joined, end); start !== end; start = fileTypeStart(joined, end)) end = start
  const key = end === joined.length ? joined : joined.slice(0, end)
  return key.includes('ς') ? key.replaceAll('ς', 'σ') : key
}

function shorten(key: string): string {
  const isPairCut = key.charCodeAt(KEPT_OF_LONGER - 1) >> 10 === 0x36
  return `${key.slice(0, isPairCut ? KEPT_OF_LONGER - 1 : KEPT_OF_LONGER)}~${hash('sha256', key).slice(0, 32)}`
}

function foldPath(path: string, splitsCamelCase: boolean): string {
  const end = fileTypeStart(path)
  return fold(path.slice(0, end), splitsCamelCase, seenOf) + path.slice(end).toLowerCase()
}

const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Z}]/gu

/** Names of nothing but punctuation, as `!!!` and `—`, differ in what is seen of them. */
function seenOf(segment: string): string {
  return segment.replace(UNSEEN, '')
}

/** As a slug, but signs that tell names apart stay; where they stand, nothing else divides the words. */
function fold(text: string, splitsCamelCase: boolean, wordless = (_: string) => ''): string {
  const segments: string[] = []
  for (const raw of normalForm(text, 'NFC').replaceAll('\\', '/').split('/')) {
    if (raw !== '') segments.push(foldSegment(raw, splitsCamelCase) || wordless(raw))
  }
  return normalForm(segments.join('/').toLowerCase().replaceAll('ς', 'σ'), 'NFC')
}

const WORD = /[a-z0-9]/
const UPPER = /[A-Z]/
const SIGN = /[#&@%+=$<>|^`~]/

function foldSegment(raw: string, splitsCamelCase: boolean): string {
  const folded = new Folded(splitsCamelCase)
  for (const character of raw) {
    const code = character.codePointAt(0) as number
    if (code < 128) folded.addAscii(character)
    else folded.addOther(character, code)
  }
  return folded.text
}

/** What stands last so far. At an edge (the beginning, a sign) a division of words says nothing. */
type Last = 'edge' | 'word' | 'upper' | 'cjk' | 'other'

class Folded {
  text = ''
  readonly #splitsCamelCase: boolean
  #isDivided = false
  #last: Last = 'edge'

  constructor(splitsCamelCase: boolean) {
    this.#splitsCamelCase = splitsCamelCase
  }

  addAscii(character: string): void {
    const last = this.#last
    if (WORD.test(character)) this.#add(character, 'word', last === 'cjk')
    else if (UPPER.test(character)) this.#add(character, 'upper', last === 'cjk' || last === 'word')
    else if (character === '.') this.#add(character, 'other', false)
    else if (SIGN.test(character)) this.#add(character, 'edge', false)
    else if (character === "'") this.#elide()
    else this.#isDivided = true
  }

  addOther(character: string, code: number): void {
    const kind = kindOf(code)
    const last = this.#last
    if (kind === KIND.latin) for (const letter of plainLatin(code) as string) this.addAscii(letter)
    else if (kind === KIND.cjk) this.#add(character, 'cjk', last === 'word' || last === 'upper')
    else if (kind === KIND.letter || kind === KIND.wide) this.#add(character, 'other', false)
    else if (kind === KIND.symbol) this.#add(character, 'edge', false)
    else if (kind === KIND.divider) this.#isDivided = true
    else if (kind === KIND.apostrophe) this.#elide()
    else if (kind === KIND.mark && last === 'other') this.text += character
  }

  #add(character: string, kind: Last, isNewWord: boolean): void {
    const isDivision = this.#isDivided || (this.#splitsCamelCase && isNewWord)
    this.text += isDivision && this.#last !== 'edge' && kind !== 'edge' ? `-${character}` : character
    this.#isDivided = false
    this.#last = kind
  }

  #elide(): void {
    if (this.#last === 'word') this.#last = 'upper'
  }
}
