import { hash } from 'node:crypto'
import { isLonger } from '../../../platform/text/is-longer.ts'
import { normalForm } from '../normal-form.ts'
import { KIND, kindOf } from './char-kind.ts'
import { fileTypeStart } from './file-type.ts'
import { plainLatin } from './latin.ts'

// What an ASCII character is in a slug; control characters and most signs are 0 and divide words.
const WORD = 1
const UPPER = 2
const SLASH = 3
const DOT = 4
const APOSTROPHE = 5
const ASCII = new Uint8Array(128)
for (const character of 'abcdefghijklmnopqrstuvwxyz0123456789') ASCII[character.charCodeAt(0)] = WORD
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') ASCII[character.charCodeAt(0)] = UPPER
for (const character of '/\\') ASCII[character.charCodeAt(0)] = SLASH
ASCII[46] = DOT
ASCII[39] = APOSTROPHE

const HYPHEN = 45
const scratch = Buffer.allocUnsafe(4096)

/**
 * A name as it stands in permalinks: lower-case words joined by hyphens, `/` between segments, no known file extension.
 * A segment of which nothing is left is `-`, which no other segment can be; empty when nothing at all is left.
 */
export function slug(text: string): string {
  const segments = slugSegments(text)
  return segments.charCodeAt(0) === HYPHEN && isOnly(segments, '-/') ? '' : segments
}

/** The slug without its hyphens: what names have in common that divide the same words differently. */
export function joinedSlug(text: string): string {
  const end = fileTypeStart(text)
  const joined = slugAscii(text, end, false) ?? slugAny(text.slice(0, end)).replaceAll('-', '')
  return joined.charCodeAt(0) === 47 && isOnly(joined, '/') ? '' : joined
}

/** The canonical permalink of a note. Segments without a letter are named after the note's id. */
export function permalinkFor(
  project: { permalink: string },
  filePath: string,
  externalId: string,
  includeProject: boolean,
): string {
  let path = slugSegments(filePath)
  if (path.includes('-/') || path.endsWith('-')) {
    const name = `note-${externalId.replaceAll('-', '').slice(0, 8)}`
    path = path
      .split('/')
      .map((segment) => (segment === '-' ? name : segment))
      .join('/')
  }
  const isWhole = !includeProject || project.permalink === '' || path.startsWith(`${project.permalink}/`)
  return shortPermalink(isWhole ? path : `${project.permalink}/${path}`)
}

/** In code points, as the path of a note; its slug may be longer. */
export const MAX_PERMALINK = 500
const MARK_DIGITS = 8

/** A long one is its beginning and a mark of the whole, so that two of them differ. */
function shortPermalink(permalink: string): string {
  if (!isLonger(permalink, MAX_PERMALINK)) return permalink
  return withEnding(permalink, `-${hash('sha256', permalink).slice(0, MARK_DIGITS)}`)
}

/** The permalink with an ending, of as much of it as there is room for. */
export function withEnding(permalink: string, ending: string): string {
  const whole = permalink + ending
  if (!isLonger(whole, MAX_PERMALINK)) return whole
  const beginning = [...permalink].slice(0, MAX_PERMALINK - ending.length).join('')
  return beginning.replace(/[-/.]+$/, '') + ending
}

function slugSegments(text: string): string {
  const end = fileTypeStart(text)
  return slugAscii(text, end, true) ?? slugAny(text.slice(0, end))
}

/** The common case, byte by byte; null at the first character beyond ASCII. `slugAny` is the rule in full. */
function slugAscii(text: string, end: number, hasHyphens: boolean): string | null {
  // A hyphen before each character and a slash at the end at most.
  const bytes = end * 2 < scratch.length ? scratch : Buffer.allocUnsafe(end * 2 + 1)
  let length = 0
  let start = 0
  let isDivided = false
  let isAfterWord = false
  let isRaw = false
  let isDots = true
  for (let at = 0; at <= end; at++) {
    const code = at === end ? 47 : text.charCodeAt(at)
    if (code > 127) return null
    const kind = ASCII[code]
    if (kind === WORD) {
      if (hasHyphens && isDivided && length > start) bytes[length++] = HYPHEN
      bytes[length++] = code
      // Most characters follow one of their kind, and change nothing.
      while (at + 1 < end && ASCII[text.charCodeAt(at + 1)] === WORD) bytes[length++] = text.charCodeAt(++at)
      isDivided = false
      isAfterWord = true
      isDots = false
    } else if (kind === UPPER) {
      if (hasHyphens && (isDivided || isAfterWord) && length > start) bytes[length++] = HYPHEN
      bytes[length++] = code | 32
      isDivided = false
      isAfterWord = false
      isDots = false
    } else if (kind === SLASH) {
      const isBlank = isRaw && isDots
      if (isBlank) {
        length = start
        if (hasHyphens) bytes[length++] = HYPHEN
      }
      if (isBlank || length > start) {
        bytes[length++] = 47
        start = length
      }
      isDivided = false
      isAfterWord = false
      isRaw = false
      isDots = true
    } else {
      isAfterWord = false
      isRaw = true
      if (kind === DOT) {
        if (hasHyphens && isDivided && length > start) bytes[length++] = HYPHEN
        bytes[length++] = code
        isDivided = false
      } else if (kind !== APOSTROPHE) isDivided = true
    }
  }
  return length === 0 ? '' : bytes.toString('latin1', 0, length - 1)
}

function slugAny(text: string): string {
  const normal = normalForm(text, 'NFC')
  const segments: string[] = []
  for (const raw of normal.replaceAll('\\', '/').split('/')) {
    if (raw !== '') segments.push(slugSegment(raw))
  }
  return segments.join('/')
}

function slugSegment(raw: string): string {
  const words = new Words()
  for (const character of raw) {
    const code = character.codePointAt(0) as number
    if (code < 128) words.addAscii(character, ASCII[code] as number)
    else words.addOther(character, code)
  }
  const segment = normalForm(words.text.toLowerCase(), 'NFC')
  return words.isDots ? '-' : segment
}

/** What stands last in the words so far, as far as the next character depends on it. */
type Last = 'nothing' | 'word' | 'upper' | 'letter' | 'cjk' | 'dot'

class Words {
  text = ''
  isDots = true
  #isDivided = false
  #last: Last = 'nothing'

  addAscii(character: string, kind: number): void {
    if (kind === WORD) this.#add(character, 'word', this.#last === 'cjk')
    else if (kind === UPPER) this.#add(character, 'upper', this.#last === 'cjk' || this.#last === 'word')
    else if (kind === DOT) this.#add(character, 'dot', false)
    else if (kind === APOSTROPHE) this.#elide()
    else this.#divide()
  }

  addOther(character: string, code: number): void {
    const kind = kindOf(code)
    if (kind === KIND.latin) {
      for (const letter of plainLatin(code) as string) this.addAscii(letter, ASCII[letter.charCodeAt(0)] as number)
    } else if (kind === KIND.cjk) this.#add(character, 'cjk', this.#last === 'word' || this.#last === 'upper')
    else if (kind === KIND.letter) this.#add(character, 'letter', false)
    else if (kind === KIND.mark) {
      if (this.#last === 'letter') this.text += character
    } else if (kind === KIND.apostrophe) this.#elide()
    else if (kind === KIND.divider || kind === KIND.symbol) this.#divide()
  }

  #add(character: string, kind: Last, isNewWord: boolean): void {
    if ((this.#isDivided || isNewWord) && this.text !== '') this.text += '-'
    this.text += character
    this.#isDivided = false
    this.#last = kind
    if (kind !== 'dot') this.isDots = false
  }

  /** "Ada's", "ADA'S" and "Ada'S" are one word: no new one begins after an apostrophe. */
  #elide(): void {
    if (this.#last === 'word') this.#last = 'upper'
  }

  #divide(): void {
    this.#isDivided = true
    this.#last = 'nothing'
  }
}

function isOnly(text: string, characters: string): boolean {
  for (const character of text) if (!characters.includes(character)) return false
  return true
}
