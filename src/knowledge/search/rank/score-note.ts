import type { RankedNote } from './candidate.ts'
import type { NoteMatches } from './note-matches.ts'
import { PARAMETERS } from './parameters.ts'
import type { TermWeights } from './term-weights.ts'

export interface NoteScore {
  /** Each from 0 to 1. */
  words: number
  passage: number
  title: number
  place: RankedNote['passage']
}

/** `meanLength`: words of a note, on the average. */
export function scoreNote(note: NoteMatches, weights: TermWeights, meanLength: number): NoteScore {
  const { passage, place } = bestPassage(note, weights)
  return { words: scoreWords(note, weights, meanLength), passage, title: scoreTitle(note, weights), place }
}

/** BM25 over what stands for the terms, where an occurrence counts the more, the more other terms are near it. */
function scoreWords(note: NoteMatches, weights: TermWeights, meanLength: number): number {
  const { alone, inTitle, inTags, inPlace, saturation, lengthShare } = PARAMETERS
  const terms = weights.inNote.length
  const near = nearnessOf(note, weights)
  // The place repeats the title.
  const counts = note.title.map((value, term) => {
    return Math.max(inTitle * value, inPlace * (note.place[term] as number)) + inTags * (note.tags[term] as number)
  })
  for (let segment = 0; segment < note.segments.length; segment++) {
    let all = 0
    for (let term = 0; term < terms; term++) all += near[segment * terms + term] as number
    for (let term = 0; term < terms; term++) {
      const at = segment * terms + term
      const sum = note.sums[at] as number
      if (sum === 0) continue
      const others = 1 - (weights.inSegment[term] as number)
      const share = terms === 1 || others <= 0 ? 1 : Math.min(1, (all - (near[at] as number)) / others)
      counts[term] = (counts[term] as number) + sum * (alone + (1 - alone) * share)
    }
  }
  const slowness = saturation * (1 - lengthShare + (lengthShare * note.length) / meanLength)
  return counts.reduce(
    (score, value, term) => score + ((weights.inNote[term] as number) * value) / (value + slowness),
    0,
  )
}

/** At segment * terms + term: the term's weight, by how near the segment it is. */
function nearnessOf({ best, segments }: NoteMatches, { inSegment }: TermWeights): Float32Array {
  const { nearness } = PARAMETERS
  const terms = inSegment.length
  const near = new Float32Array(best.length)
  for (let at = 0; at < best.length; at++) {
    const value = best[at] as number
    if (value === 0) continue
    const weight = value * (inSegment[at % terms] as number)
    for (let distance = 0; distance < nearness.length && distance < segments.length; distance++) {
      const here = weight * (nearness[distance] as number)
      const [before, after] = [at - distance * terms, at + distance * terms]
      if (before >= 0 && here > (near[before] as number)) near[before] = here
      if (after < near.length && here > (near[after] as number)) near[after] = here
    }
  }
  return near
}

/** The segments in a row that have most of the terms. Tags tell what all of them are about. */
function bestPassage(
  { best, segments, tags }: NoteMatches,
  { inSegment }: TermWeights,
): Pick<NoteScore, 'passage' | 'place'> {
  const terms = inSegment.length
  const ofTags = tags.reduce((sum, value, term) => sum + value * (inSegment[term] as number), 0)
  const found = { passage: ofTags, place: { start: 0, end: 0 } }
  let mostInText = 0
  for (let first = 0; first < segments.length; first++) {
    const last = Math.min(segments.length, first + PARAMETERS.passageLength) - 1
    let [inText, inAll] = [0, 0]
    for (let term = 0; term < terms; term++) {
      let most = 0
      for (let segment = first; segment <= last; segment++)
        most = Math.max(most, best[segment * terms + term] as number)
      inText += most * (inSegment[term] as number)
      inAll += Math.max(most, tags[term] as number) * (inSegment[term] as number)
    }
    found.passage = Math.max(found.passage, inAll)
    if (inText <= mostInText) continue
    mostInText = inText
    found.place = { start: segments[first]?.start ?? 0, end: segments[last]?.end ?? 0 }
  }
  return found
}

/** How much of the question is in the title, and how much of the title in the question. */
function scoreTitle({ title, titleCover }: NoteMatches, { inNote }: TermWeights): number {
  return titleCover * title.reduce((sum, value, term) => sum + value * (inNote[term] as number), 0)
}
