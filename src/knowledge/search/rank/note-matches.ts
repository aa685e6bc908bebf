import type { Candidate } from './candidate.ts'
import { type Segment, segmentsOf } from './segments.ts'
import type { TermMatches } from './term-matches.ts'
import type { WordList } from './word-list.ts'

/** What a note has of words, as numbers of the word list. */
export interface NoteWords {
  segments: Segment[]
  /** One after the other, with where each segment ends. */
  words: number[]
  ends: number[]
  title: number[]
  tags: number[]
  place: number[]
}

/** What a note has of the question's terms. */
export interface NoteMatches {
  segments: Segment[]
  /** Words of title and text. */
  length: number
  /** At segment * terms + term: the best match, and the sum of all. */
  best: Float32Array
  sums: Float32Array
  /** At segment * terms + term: 1 when the term stands there, in whatever form. */
  isSame: Uint8Array
  /** By term. */
  title: Float32Array
  tags: Float32Array
  /** Words of like meaning do not count there: folders have names of all kinds. */
  place: Float32Array
  /** What share of the title's words are terms. */
  titleCover: number
}

// Of a longer note the rest is found, but does not count for the order.
const LONGEST_TEXT = 100_000

export function readNote({ title, text, tags = '', place = '' }: Candidate, list: WordList): NoteWords {
  const read = text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text
  const note: NoteWords = { segments: segmentsOf(read), words: [], ends: [], title: [], tags: [], place: [] }
  for (const { start, end } of note.segments) {
    list.read(read, start, end, note.words)
    note.ends.push(note.words.length)
  }
  list.read(title, 0, title.length, note.title)
  list.read(tags, 0, tags.length, note.tags)
  list.read(place, 0, place.length, note.place)
  return note
}

export function matchNote(read: NoteWords, matches: TermMatches): NoteMatches {
  const { segments, words, ends, title } = read
  const { terms, values, isAny } = matches
  const size = segments.length * terms
  const note: NoteMatches = {
    segments,
    length: words.length + title.length,
    best: new Float32Array(size),
    sums: new Float32Array(size),
    isSame: new Uint8Array(size),
    title: new Float32Array(terms),
    tags: new Float32Array(terms),
    place: new Float32Array(terms),
    titleCover: 0,
  }
  let at = 0
  for (const [segment, end] of ends.entries()) {
    const row = segment * terms
    for (; at < end; at++) {
      const word = words[at] as number
      if (isAny[word] !== 1) continue
      for (let term = 0; term < terms; term++) {
        const value = values[word * terms + term] as number
        if (value === 0) continue
        note.sums[row + term] = (note.sums[row + term] as number) + value
        if (value > (note.best[row + term] as number)) note.best[row + term] = value
        if (matches.isSame[word * terms + term] === 1) note.isSame[row + term] = 1
      }
    }
  }
  matchTitle(note, title, matches)
  matchAny(note.tags, read.tags, matches, false)
  matchAny(note.place, read.place, matches, true)
  return note
}

function matchTitle(note: NoteMatches, title: readonly number[], { terms, values }: TermMatches): void {
  let covered = 0
  for (const word of title) {
    let best = 0
    for (let term = 0; term < terms; term++) {
      const value = values[word * terms + term] as number
      best = Math.max(best, value)
      note.title[term] = Math.max(note.title[term] as number, value)
    }
    covered += best
  }
  note.titleCover = title.length === 0 ? 0 : covered / title.length
}

/** The best match of each term. */
function matchAny(best: Float32Array, words: readonly number[], matches: TermMatches, isSameOnly: boolean): void {
  const { terms, values, isSame } = matches
  for (const word of words) {
    for (let term = 0; term < terms; term++) {
      const at = word * terms + term
      if (isSameOnly && isSame[at] !== 1) continue
      best[term] = Math.max(best[term] as number, values[at] as number)
    }
  }
}
