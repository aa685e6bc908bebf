import type { Candidate, CollectionStatistics, RankedNote } from './candidate.ts'
import { type FirstRound, feedbackTerms } from './feedback.ts'
import { joinedWords, shareOfJoined } from './joined-words.ts'
import { matchNote, type NoteMatches, type NoteWords, readNote } from './note-matches.ts'
import { PARAMETERS } from './parameters.ts'
import { type QuestionTerm, questionTerms } from './question-terms.ts'
import { type NoteScore, scoreNote } from './score-note.ts'
import { matchTerms } from './term-matches.ts'
import { type TermWeights, weighTerms } from './term-weights.ts'
import type { TokenMeaning } from './token-meaning.ts'
import { WordList } from './word-list.ts'

/** The words whose numbers of notes `CollectionStatistics.holding` should have. */
export function rankedWords(question: string): string[] {
  return questionTerms(question).map(({ word }) => word)
}

/** All candidates, best first; equals stay in their order. Without `meaning` (text mode) only words and their forms count. */
export function rankNotes(
  question: string,
  candidates: readonly Candidate[],
  statistics: CollectionStatistics,
  meaning: TokenMeaning | null,
): RankedNote[] {
  const list = new WordList()
  const read = candidates.map((candidate) => readNote(candidate, list))
  const lengths = read.map(({ words, title }) => words.length + title.length)
  const meanLength = Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length))
  const task = { list, read, meanLength, statistics, meaning }
  const terms = questionTerms(question)
  const round = scoreRound(task, terms)
  const similarities = similaritiesOf(candidates)
  const { feedbackShare, joinedShare } = PARAMETERS
  const pieces = joinedWords(question, list)
  const first = round.scores.map((score, number) => {
    const sum = sumOf(score, similarities?.[number] ?? null)
    if (pieces.length === 0) return sum
    return (sum + joinedShare * shareOfJoined(pieces, read[number] as NoteWords)) / (1 + joinedShare)
  })
  const added = meaning === null ? null : scoreFeedback(task, meaning, { ...round, terms, read, scores: first })
  const head = first.indexOf(Math.max(...first))
  const scores = first.map((score, number) => {
    return added === null ? score : (score + feedbackShare * (added[number] as number)) / (1 + feedbackShare)
  })
  // What the feedback comes from keeps its place.
  if (head >= 0) scores[head] = Math.max(...scores)
  const ranked = round.scores.map(({ place }, number): RankedNote => {
    return { noteId: (candidates[number] as Candidate).noteId, score: scores[number] as number, passage: place }
  })
  const order = ranked.map((_, number) => number)
  order.sort(
    (one, other) =>
      (scores[other] as number) - (scores[one] as number) || Number(other === head) - Number(one === head),
  )
  return order.map((number) => ranked[number] as RankedNote)
}

interface Task {
  list: WordList
  read: readonly NoteWords[]
  meanLength: number
  statistics: CollectionStatistics
  meaning: TokenMeaning | null
}

interface Round {
  notes: NoteMatches[]
  weights: TermWeights
  scores: NoteScore[]
}

function scoreRound({ list, read, meanLength, statistics, meaning }: Task, terms: readonly QuestionTerm[]): Round {
  const matches = matchTerms(terms, list, meaning)
  const notes = read.map((words) => matchNote(words, matches))
  const meanings = meaning?.weightsOf(terms.map(({ word }) => word)) ?? null
  const weights = weighTerms(terms, notes, statistics, meanings)
  return { notes, weights, scores: notes.map((note) => scoreNote(note, weights, meanLength)) }
}

function scoreFeedback(task: Task, meaning: TokenMeaning, round: FirstRound): number[] | null {
  const terms = feedbackTerms(round, task.list.words, meaning)
  if (terms.length === 0) return null
  return scoreRound(task, terms).scores.map((score) => sumOf(score, null))
}

/** From 0 to 1. */
function sumOf(score: NoteScore, similarity: number | null): number {
  const { passageShare, titleShare, vectorShare } = PARAMETERS
  const sum = score.words + passageShare * score.passage + titleShare * score.title
  if (similarity === null) return sum / (1 + passageShare + titleShare)
  return (sum + vectorShare * similarity) / (1 + passageShare + titleShare + vectorShare)
}

/**
 * A note that is not among the nearest is at most as near as the last of them. One that has no vectors yet may be the nearest of all:
 * its words decide, and are not held against it. Null when vectors have no say.
 */
function similaritiesOf(candidates: readonly Candidate[]): number[] | null {
  const known = candidates.flatMap(({ similarity }) => (similarity === undefined ? [] : [similarity]))
  if (known.length === 0) return null
  const least = known.reduce((found, similarity) => Math.min(found, similarity), 1)
  const most = known.reduce((found, similarity) => Math.max(found, similarity), -1)
  return candidates.map(({ similarity, isAwaited = false }) => {
    return Math.min(1, Math.max(0, similarity ?? (isAwaited ? most : least)))
  })
}
