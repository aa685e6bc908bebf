import { isLonger } from '../../../platform/text/is-longer.ts'
import { shortened } from '../../../platform/text/shortened.ts'

const MAX_PATH = 500
const MAX_SEGMENT_BYTES = 255

const CONTROL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u
// Characters that turn the reading direction around make a name look like another.
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/
const UNWRITABLE = /[<>:"|?*]/
const DRIVE = /^[A-Za-z]:/
const RESERVED = /^(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[1-9¹²³])$/i

/**
 * What makes a path unsafe however it is cleaned afterwards, as the rest of a sentence; undefined when nothing does.
 * Written in ASCII, in full width, percent-encoded, with invisible characters in between: all are judged alike.
 */
export function unsafePath(raw: string): string | undefined {
  if (raw.length > 2 * MAX_PATH && raw.trim().length > 2 * MAX_PATH) return tooLong
  const text = trimBlanks(raw)
  if (CONTROL.test(text)) return 'has a control character'
  if (DIRECTION.test(text)) return 'has a character that changes the reading direction'
  if (DRIVE.test(text) || DRIVE.test(text.replace(/^\//, ''))) return 'begins with a drive letter'
  if (/^[/\\]{2}/.test(text)) return 'names a network share'
  if (text.startsWith('\\')) return 'is absolute'
  if (climbs(text)) return "has a segment '..'"
  for (const segment of text.replace(INVISIBLE, '').split(/[/\\]/)) {
    if (segment.trimStart().startsWith('~')) return "has a segment that begins with '~'"
  }
  return undefined
}

/** Whether the text has a segment `..`, also for careless software further on that decodes or simplifies it. */
export function climbs(text: string): boolean {
  return unmask(text).split(/[/\\]/).some(isUpward)
}

/** What forbids a path that is clean otherwise: segments divided by single slashes, in NFC. */
export function unfitPath(path: string): string | undefined {
  if (isLonger(path, MAX_PATH)) return tooLong
  for (const segment of path.split('/')) {
    const problem = unfitSegment(segment)
    if (problem !== undefined) return problem
  }
  return undefined
}

const tooLong = `has more than ${MAX_PATH} characters`

function unfitSegment(segment: string): string | undefined {
  if (segment === '') return 'has an empty segment'
  if (isUpward(segment)) return "has a segment '..'"
  if (segment.startsWith('.')) return `has the hidden segment '${cut(segment)}'`
  if (/[ .]$/.test(segment)) return `has the segment '${cut(segment)}', which ends in a blank or a dot`
  if (RESERVED.test(stem(segment))) return `has the segment '${cut(segment)}', a name that Windows reserves`
  if (UNWRITABLE.test(segment)) return `has one of the characters < > : " | ? *, which not every file system can write`
  // A UTF-16 unit has three bytes at most.
  if (segment.length * 3 > MAX_SEGMENT_BYTES && Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
    return `has the segment '${cut(segment)}' of more than ${MAX_SEGMENT_BYTES} bytes`
  }
  return undefined
}

/** Windows looks at the name before the first dot or colon, without the blanks at its end. */
function stem(segment: string): string {
  const end = segment.search(/[.:]/)
  return (end === -1 ? segment : segment.slice(0, end)).trim()
}

/** Dots and blanks alone, with two dots at least: `..`, `.. `, `...` all climb somewhere. */
function isUpward(segment: string): boolean {
  let dots = 0
  for (const character of segment) {
    if (character === '.') dots++
    else if (character !== ' ' && character !== '\u00a0' && character !== '\u3000') return false
  }
  return dots > 1
}

const MASKED = /[%\u0080-\uffff]/
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu
const LIKE_SLASH = /[\u2044\u2215\u29f8]/g
const LIKE_BACKSLASH = /[\u2216\u29f5]/g
const MOST_LAYERS = 4

/** Only for judging, never stored. */
function unmask(text: string): string {
  let plain = text
  for (let layer = 0; layer < MOST_LAYERS && MASKED.test(plain); layer++) {
    const before = plain
    plain = decodePercent(plain)
      .normalize('NFKC')
      .replace(INVISIBLE, '')
      .replace(LIKE_SLASH, '/')
      .replace(LIKE_BACKSLASH, '\\')
    if (plain === before) break
  }
  return plain
}

// A dot or slash in one byte or in the two, three and four bytes of an overlong form, and as %u002e.
const ENCODED =
  /%(?:25|2e|2f|5c|00|c0%(?:ae|af)|c1%9c|e0%(?:80%(?:ae|af)|81%9c)|f0%80%(?:80%(?:ae|af)|81%9c)|u00(?:2e|2f|5c)|u(?:2215|2216|ff0e|ff0f|ff3c))/gi

function decodePercent(text: string): string {
  return text.includes('%') ? text.replace(ENCODED, decoded) : text
}

function decoded(code: string): string {
  const last = code.slice(-2).toLowerCase()
  if (last === '25') return '%'
  if (last === '00') return ''
  if (last === '2e' || last === 'ae' || last === '0e') return '.'
  return last === '5c' || last === '9c' || last === '3c' || last === '16' ? '\\' : '/'
}

/** Not `trim`, which also takes line breaks away. */
function trimBlanks(raw: string): string {
  let start = 0
  let end = raw.length
  while (start < end && isBlank(raw.charCodeAt(start))) start++
  while (end > start && isBlank(raw.charCodeAt(end - 1))) end--
  return raw.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

function cut(segment: string): string {
  return shortened(segment, 60)
}
