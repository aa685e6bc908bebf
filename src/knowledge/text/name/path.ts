import { hash } from 'node:crypto'
import { AppError } from '../../../platform/errors/app-error.ts'
import { malformed } from '../../malformed.ts'
import { fileTypeStart } from './file-type.ts'
import { climbs, unfitPath, unsafePath } from './path-problem.ts'
import { slug } from './slug.ts'

const MARKDOWN = '.md'
// In bytes, with room for `.md` in a segment.
const LONGEST_NAME = 252
const MARK_DIGITS = 8
// Words of ASCII, as most folders are: there is nothing to clean, and nothing that could be meant to be read otherwise.
const PLAIN = /^[\w-]+(?:[ ./][\w-]+)*$/

/** The folder a note shall lie in; empty for the root. Characters that folder names do not have are left out. */
export function cleanDirectory(raw: string, field: string): string {
  if (PLAIN.test(raw) && unfitPath(raw) === undefined) return raw
  refuse(unsafePath(raw), field, raw)
  refuse(unsafePath(withoutOuterSlashes(raw)), field, raw)
  const named = divide(withoutOuterSlashes(raw))
  refuse(named === '' ? undefined : unfitPath(named.replaceAll(UNUSUAL, '_')), field, raw)
  const path = divide(
    named
      .replaceAll(UNUSUAL, '')
      .split('/')
      .map((segment) => segment.trim())
      .join('/'),
  )
  refuse(path === '' ? undefined : unfitPath(path), field, raw)
  return path
}

/**
 * A folder that is there, empty for the root. Unlike in `cleanDirectory` every character counts: `C++` must not mean
 * the notes in `C`.
 */
export function cleanExistingDirectory(raw: string, field: string): string {
  refuse(unsafePath(raw), field, raw)
  const path = divide(withoutOuterSlashes(raw))
  refuse(path === '' ? undefined : (unsafePath(path) ?? unfitPath(path)), field, raw)
  return path
}

/** A folder whose notes shall go: never the root, and never by a path that looks absolute. */
export function cleanDirectoryForDelete(raw: string): string {
  if (raw.trim().startsWith('/')) refuse("is absolute; name it without the '/' at the beginning", 'directory', raw)
  const path = cleanExistingDirectory(raw, 'directory')
  if (path === '') refuse('must name a folder; the whole project is not deleted like this', 'directory', raw)
  return path
}

/** Where a note shall be moved, in NFC and with single slashes; empty when it names the root folder (`./`). */
export function cleanDestination(raw: string): string {
  const text = raw.trim()
  if (text === '') throw invalid('Invalid destination path: it is empty')
  const problem = text.startsWith('/') ? 'is absolute' : unsafePath(raw)
  const path = divide(text)
  const isFolder = /[/\\]$/.test(text)
  const whole = path === '' || isFolder || path.toLowerCase().endsWith(MARKDOWN) ? path : path + MARKDOWN
  const found =
    problem ?? (path === '' ? (isFolder ? undefined : 'names no file') : (unfitPath(path) ?? unfitPath(whole)))
  if (found !== undefined) throw invalid(`Invalid destination path '${shown(raw)}': it ${found}`)
  return path
}

/** The name of the file of a note that is called so. */
export function fileNameFor(title: string, kebab: boolean): string {
  const plain = stripEdges(title.replace(UNWRITABLE, '-').replace(UNSEEN, '').replace(/-{2,}/g, '-').normalize('NFC'))
  // The dot at the end keeps `notes.py` from losing what looks like a file type.
  const words = kebab ? stripEdges(slug(`${plain}.`)) : ''
  const name = shortened(words === '' ? plain : words)
  if (name === '') {
    throw malformed(['body', 'title'], `The title '${shown(title)}' leaves no file name: use a letter or a digit`)
  }
  const problem = climbs(name) ? "has a segment '..'" : unfitPath(name + MARKDOWN)
  if (problem !== undefined) throw invalid(`The title '${shown(title)}' makes no file name: the path ${problem}`)
  return name + MARKDOWN
}

/** A long title makes a file name of its beginning and of a mark of the whole, so that two of them differ. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= LONGEST_NAME) return name
  let end = 0
  let bytes = 0
  for (const character of name) {
    bytes += Buffer.byteLength(character)
    if (bytes > LONGEST_NAME - MARK_DIGITS - 1) break
    end += character.length
  }
  return `${stripEdges(name.slice(0, end).trimEnd())}-${hash('sha256', name).slice(0, MARK_DIGITS)}`
}

export function joinPath(directory: string, fileName: string): string {
  if (directory === '') return fileName
  const path = `${directory}/${fileName}`
  refuse(unfitPath(path), 'path', path)
  return path
}

/** All paths in a folder stand between these two in code point order: a slash is followed by a zero. */
export function folderBounds(folder: string): { lower: string; upper: string } {
  return { lower: `${folder}/`, upper: `${folder}0` }
}

/** Empty for a note in the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** The file name without its extension. */
export function stemOf(path: string): string {
  return fileNameOf(path.slice(0, fileTypeStart(path)))
}

/** Whether the name ends in what is an extension and no part of it: `plan.pdf`, but neither `Version 2.0` nor `Dr. X`. */
export function hasFileType(path: string): boolean {
  const name = fileNameOf(path)
  const dot = name.lastIndexOf('.')
  return dot > 0 && /^(?=[^a-z]*[a-z])[a-z0-9]{1,10}$/i.test(name.slice(dot + 1))
}

const UNUSUAL = /[^\p{L}\p{M}\p{N} ._/-]|\p{Default_Ignorable_Code_Point}/gu
// Control characters beside those that file systems refuse.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const UNWRITABLE = /[/\\<>:"|?*\u0000-\u001f\u007f-\u009f\u2028\u2029]/g
// Neither seen nor needed to write a language or an emoji: direction, zero-width blanks, half a surrogate pair.
const UNSEEN = /[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\p{Cs}]/gu

function stripEdges(name: string): string {
  let start = 0
  let end = name.length
  while (start < end && isEdge(name[start] as string)) start++
  while (end > start && isEdge(name[end - 1] as string)) end--
  return name.slice(start, end)
}

function isEdge(character: string): boolean {
  return character === '.' || character === '-' || character.trim() === ''
}

/** One leading and one trailing slash mean nothing in the name of a folder. */
function withoutOuterSlashes(raw: string): string {
  const text = raw.trim()
  const start = text.startsWith('/') ? 1 : 0
  return text.slice(start, text.length > start && text.endsWith('/') ? -1 : undefined)
}

function divide(path: string): string {
  const segments = path
    .normalize('NFC')
    .replaceAll('\\', '/')
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
  // As the text around it is trimmed; a blank may begin any other segment.
  if (segments[0] !== undefined) segments[0] = segments[0].trimStart()
  return segments.join('/')
}

function refuse(problem: string | undefined, field: string, raw: string): void {
  if (problem !== undefined) throw invalid(`${field} '${shown(raw)}' ${problem}`)
}

function invalid(message: string): AppError {
  return new AppError('invalid_argument', message)
}

const LONGEST_SHOWN = 100

function shown(raw: string): string {
  const beginning = raw
    .slice(0, LONGEST_SHOWN)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '\ufffd')
  return raw.length <= LONGEST_SHOWN ? beginning : `${beginning}…`
}
