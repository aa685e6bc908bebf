import type { RowKind } from '../row-number.ts'
import { composed } from '../words/unicode-forms.ts'

/**
 * Words that a search is narrowed by: project, kind of row, type of the note. No text of a user stands where they do, and each is
 * one word to every tokenizer: a-y and digits as they are, anything else by its number.
 */
export function scopeWords(projectId: number, kind: RowKind): string[] {
  return [projectWord(projectId), KIND_WORDS[kind]]
}

export function projectWord(projectId: number): string {
  return `p${projectId}`
}

export const KIND_WORDS: Record<RowKind, string> = { note: 'kn', observation: 'ko', relation: 'kr' }

/** Of the type that a note has. */
export function ownTypeWord(typeKey: string): string {
  return typeWord(composed(typeKey))
}

// PostgreSQL takes words of 2,046 bytes. That of a type which a note can have, of at most 200 characters, is much shorter.
const LONGEST_TYPE_WORD = 2_000

export function typeWord(typeKey: string): string {
  const word = typeKey.replace(/[^a-y0-9]/gu, (character) => `z${(character.codePointAt(0) as number).toString(36)}z`)
  return `t${word}`.slice(0, LONGEST_TYPE_WORD)
}

/** Of the notes of a project whose parts do not repeat what is to be known of their note: only its own row has it. */
export function bulkyWord(projectId: number): string {
  return `b${projectId}`
}

/** Of the parts of such notes. */
export const BULKY_PART = 'bp'

/** Of the parts of one such note. */
export function bulkyPartWord(noteId: number): string {
  return `o${noteId}`
}

// Of a beginning as short as this there may be very many words, and collecting those would take long.
const LONGEST_BEGINNING = 3

/** A word of what a note of the project is called. Words of texts, which are many more, are not in the way of these. */
export function nameWord(projectId: number, word: string): string {
  return `n${projectId}n${word}`
}

/** The words, and the first characters of each as words of their own. */
export function nameWords(projectId: number, words: readonly string[]): string[] {
  const all: string[] = []
  const beginnings = new Set<string>()
  for (const word of new Set(words)) {
    all.push(nameWord(projectId, word))
    for (let length = 1; length <= Math.min(word.length, LONGEST_BEGINNING); length++) {
      beginnings.add(word.slice(0, length))
    }
  }
  for (const beginning of beginnings) if (beginning.isWellFormed()) all.push(`m${projectId}m${beginning}`)
  return all
}

/** The word to look for in order to find names by the beginning of a word, and whether that is a beginning itself. */
export function nameBeginning(projectId: number, word: string): { word: string; isBeginning: boolean } {
  return word.length <= LONGEST_BEGINNING
    ? { word: `m${projectId}m${word}`, isBeginning: false }
    : { word: nameWord(projectId, word), isBeginning: true }
}
