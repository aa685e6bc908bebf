import type { CollectionStatistics } from './candidate.ts'
import type { NoteMatches } from './note-matches.ts'
import { PARAMETERS } from './parameters.ts'
import type { QuestionTerm } from './question-terms.ts'

export interface TermWeights {
  /** By term: what having it anywhere in a note counts. They add up to 1. */
  inNote: Float32Array
  /** By term: what having it in a segment counts. They add up to 1. */
  inSegment: Float32Array
}

/** Rare terms count more, and those that say much. A name that is in every note may still tell its segments apart. */
export function weighTerms(
  terms: readonly QuestionTerm[],
  notes: readonly NoteMatches[],
  { notes: total, holding }: CollectionStatistics,
  meanings: Float32Array | null,
): TermWeights {
  const [inNote, inSegment] = [new Float32Array(terms.length), new Float32Array(terms.length)]
  for (const [number, { word }] of terms.entries()) {
    const seen = count(number, terms.length, notes)
    const all = Math.max(total, notes.length)
    const held = Math.min(all, Math.max(seen.notes, holding?.get(word) ?? seen.notes))
    const meaning = meanings?.[number] ?? 1
    inNote[number] = rarity(held, all) ** PARAMETERS.rarityPower * meaning
    // Other notes that have the term have it as densely as those that are here.
    const density = seen.segmentsThere === 0 ? 0 : seen.segments / seen.segmentsThere
    const segments = Math.max(1, (all / Math.max(1, notes.length)) * seen.segmentsHere)
    inSegment[number] = rarity((held / all) * density * segments, segments) * meaning
  }
  return { inNote: toShares(inNote), inSegment: toShares(inSegment) }
}

interface Seen {
  notes: number
  segments: number
  segmentsThere: number
  segmentsHere: number
}

/** How many notes and segments have the term, and how many segments those notes, and all, have. */
function count(term: number, terms: number, notes: readonly NoteMatches[]): Seen {
  const seen: Seen = { notes: 0, segments: 0, segmentsThere: 0, segmentsHere: 0 }
  for (const { isSame, segments, title, tags, place } of notes) {
    let found = 0
    for (let segment = 0; segment < segments.length; segment++) found += isSame[segment * terms + term] as number
    seen.segmentsHere += segments.length
    const outside = Math.max(title[term] as number, tags[term] as number, place[term] as number)
    if (found === 0 && outside < 0.9) continue
    seen.notes++
    seen.segments += found
    seen.segmentsThere += segments.length
  }
  return seen
}

/** As BM25 has it. */
function rarity(holding: number, all: number): number {
  return Math.log(1 + (Math.max(0, all - holding) + 0.5) / (holding + 0.5))
}

function toShares(weights: Float32Array): Float32Array {
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}
