import { stemOf } from '../words/stem.ts'
import type { NoteMatches, NoteWords } from './note-matches.ts'
import { PARAMETERS } from './parameters.ts'
import { isTelling, type QuestionTerm } from './question-terms.ts'
import type { TermWeights } from './term-weights.ts'
import type { TokenMeaning } from './token-meaning.ts'

export interface FirstRound {
  terms: readonly QuestionTerm[]
  read: readonly NoteWords[]
  notes: readonly NoteMatches[]
  weights: TermWeights
  /** By note, from 0 to 1. */
  scores: readonly number[]
}

interface Place {
  note: number
  segment: number
  score: number
}

/** Half of what tells a segment is its note. */
const NOTE_SHARE = 0.5
const SHORTEST = 3

/** What the segments that answer best are about, besides the question's own terms: the words that tell them from the others. */
export function feedbackTerms(round: FirstRound, words: readonly string[], meaning: TokenMeaning): QuestionTerm[] {
  const weights = new Map<number, number>()
  for (const { note, segment, score } of bestSegments(round, PARAMETERS.feedbackSegments)) {
    const { words: all, ends } = round.read[note] as NoteWords
    for (const word of new Set(all.slice(ends[segment - 1] ?? 0, ends[segment]))) {
      weights.set(word, (weights.get(word) ?? 0) + score)
    }
  }
  const asked = new Set(round.terms.map(({ stem }) => stem))
  const found = [...weights.keys()].filter((word) => isNew(words[word] as string, asked))
  const counts = countWords(round.read, found)
  const segments = round.read.reduce((sum, { ends }) => sum + ends.length, 0)
  const meanings = meaning.weightsOf(found.map((word) => words[word] as string))
  const rated = found.map((word, number) => {
    const rarity = Math.log(1 + (segments + 0.5) / ((counts.get(word) ?? 0) + 0.5))
    return {
      word: words[word] as string,
      weight: (weights.get(word) as number) * rarity * (meanings[number] as number),
    }
  })
  const terms = new Map<string, QuestionTerm>()
  for (const { word } of rated.sort((one, other) => other.weight - one.weight)) {
    if (terms.size === PARAMETERS.feedbackTerms) break
    const stem = stemOf(word) ?? word
    if (!terms.has(stem)) terms.set(stem, { word, stem })
  }
  return [...terms.values()]
}

function isNew(word: string, asked: ReadonlySet<string>): boolean {
  return word.length >= SHORTEST && isTelling(word) && !asked.has(stemOf(word) ?? word)
}

function bestSegments({ notes, weights, scores }: FirstRound, most: number): Place[] {
  const terms = weights.inSegment.length
  const best: Place[] = []
  for (const [note, { best: values, segments }] of notes.entries()) {
    for (let segment = 0; segment < segments.length; segment++) {
      let score = NOTE_SHARE * (scores[note] as number)
      for (let term = 0; term < terms; term++) {
        score += (values[segment * terms + term] as number) * (weights.inSegment[term] as number)
      }
      if (best.length === most && score <= (best[most - 1] as Place).score) continue
      best.splice(best.findLastIndex((other) => other.score >= score) + 1, 0, { note, segment, score })
      if (best.length > most) best.pop()
    }
  }
  return best
}

function countWords(notes: readonly NoteWords[], wanted: readonly number[]): Map<number, number> {
  const counts = new Map(wanted.map((word) => [word, 0]))
  for (const { words } of notes) {
    for (const word of words) {
      const count = counts.get(word)
      if (count !== undefined) counts.set(word, count + 1)
    }
  }
  return counts
}
