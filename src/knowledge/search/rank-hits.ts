import type { Reader } from '../../platform/storage/database.ts'
import { lastChange } from '../history/store-changes.ts'
import type { Project } from '../note/note.ts'
import { contentsOf } from '../note/store-contents.ts'
import { notesAwaited } from '../semantic/sync/store-changed-since.ts'
import { splitText } from '../text/frontmatter/frontmatter.ts'
import { tagsOf } from '../text/frontmatter/note-metadata.ts'
import { turnAfter } from '../text/steps.ts'
import { excerptOf } from './answer/excerpt.ts'
import { hitNotes, hitRelations, observationTexts } from './answer/store-search-hits.ts'
import { isOnlyProject } from './find/store-search-notes.ts'
import { type WordStatistics, wordStatistics } from './find/word-statistics.ts'
import { type Hit, hitKey, type RatedHit } from './hit.ts'
import { placeText, withCategory } from './index/search-rows.ts'
import { anyWord } from './question/any-word.ts'
import { parseQuestion } from './question/question.ts'
import type { Candidate } from './rank/candidate.ts'
import { rankedWords, rankNotes } from './rank/rank-notes.ts'
import type { TokenMeaning } from './rank/token-meaning.ts'
import { WantedWords } from './words/wanted-words.ts'
import { TITLE_MATCH, type TitleMatch, WrittenTitle } from './words/written-title.ts'

/** So many are looked at closely: each costs some tenths of a millisecond. */
export const MOST_RANKED_CLOSELY = 50
const MOST_CHARACTERS = 200_000
const LONGEST_TEXT = 20_000
/** Of longer texts the parts with the words are looked at, as far as they are read. */
const MOST_READ = 2_000_000
const LONGEST_READ = 200_000
/** So much of them is read before others have their turn. */
const READ_AT_ONCE = 20_000
/** Of all tags together. */
const LONGEST_TAGS = 2_000

type CandidateTexts = Omit<Candidate, 'noteId' | 'similarity'>

interface Ranking {
  question: string
  /** Null, or absent: nothing is known of what words mean. */
  meaning?: TokenMeaning | null
  /** What finding them has told about the words. */
  statistics?: WordStatistics | undefined
  /** Whose vectors have a say, and the change that they have followed: notes that came since have none yet. */
  synced?: { modelId: number; seq: number }
}

/** The best of what was found, put in the order in which they answer the question; the others stay behind them. */
export async function rankHits(
  reader: Reader,
  project: Project,
  hits: readonly RatedHit[],
  { question, meaning = null, statistics: known, synced }: Ranking,
): Promise<RatedHit[]> {
  const first = hits.slice(0, MOST_RANKED_CLOSELY)
  const texts = await textsOf(reader, project, first, { question })
  const awaited = synced === undefined ? new Set() : await awaitedNotes(reader, project, first, synced)
  const candidates = first.flatMap((hit): Candidate[] => {
    const text = texts.get(hitKey(hit))
    if (text === undefined) return []
    if (hit.similarity > 0) return [{ noteId: hitKey(hit), ...text, similarity: hit.similarity }]
    return [{ noteId: hitKey(hit), ...text, isAwaited: awaited.has(hit.noteId) }]
  })
  const statistics = await wordStatistics(reader, project, rankedWords(question), await isOnlyProject(reader), known)
  const byKey = new Map(first.map((hit) => [hitKey(hit), hit]))
  const inOrder = rankNotes(question, candidates, statistics, meaning).map(({ noteId: key, score }) => {
    return { ...(byKey.get(key) as RatedHit), score }
  })
  const written = new WrittenTitle(question)
  const ranked = titledFirst(inOrder, (hit) => written.match(texts.get(hitKey(hit))?.title ?? ''))
  const least = ranked.at(-1)?.score ?? 1
  const most = Math.max(1, hits[MOST_RANKED_CLOSELY]?.score ?? 0)
  return [...ranked, ...hits.slice(MOST_RANKED_CLOSELY).map((hit) => ({ ...hit, score: (least * hit.score) / most }))]
}

/** The notes of these hits that have no vectors yet. */
async function awaitedNotes(
  reader: Reader,
  { id: projectId }: Project,
  hits: readonly RatedHit[],
  { modelId, seq }: NonNullable<Ranking['synced']>,
): Promise<Set<number>> {
  if ((await lastChange(reader, projectId)) <= seq) return new Set()
  const noteIds = [...new Set(hits.map(({ noteId }) => noteId))]
  return notesAwaited(reader, { projectId, modelId }, seq, noteIds)
}

/** What is called just as was asked comes first, though words such as "of" count for nothing in the order of the others. */
function titledFirst(hits: readonly RatedHit[], matchOf: (hit: RatedHit) => TitleMatch): RatedHit[] {
  const rated = hits.map((hit) => ({ hit, match: hit.kind === 'note' ? matchOf(hit) : TITLE_MATCH.none }))
  const most = hits[0]?.score ?? 0
  return rated
    .sort((one, other) => other.match - one.match)
    .map(({ hit, match }) => (match === TITLE_MATCH.none ? hit : { ...hit, score: most }))
}

/** What is gone meanwhile has none. */
export async function textsOf(
  reader: Reader,
  project: Project,
  hits: readonly Hit[],
  { question, longest = LONGEST_TEXT }: { question: string; longest?: number },
): Promise<Map<number, CandidateTexts>> {
  const of = (kind: Hit['kind']) => hits.filter((hit) => hit.kind === kind)
  const texts = new Map<number, CandidateTexts>()
  const notes = await hitNotes(reader, project.id, [...new Set(hits.map(({ noteId }) => noteId))])
  const own = of('note')
  const parts = of('observation')
  const wanted = new WantedWords(anyWord(parseQuestion(question)) ?? parseQuestion(question))
  const ids = own.map(({ noteId }) => noteId)
  const contents = await contentsOf(reader, ids, share(MOST_READ, own, LONGEST_READ))
  const shown = share(MOST_CHARACTERS, own, longest)
  const breathe = turnAfter(READ_AT_ONCE)
  for (const hit of own) {
    const note = notes.get(hit.noteId)
    const content = contents.get(hit.noteId)
    if (note === undefined || content === undefined) continue
    const tags = tagsOf(JSON.parse(note.metadata)).join(' ').slice(0, LONGEST_TAGS)
    const text = excerptOf(splitText(content).body, wanted, shown)
    texts.set(hitKey(hit), { title: note.title, text, tags, place: placeText(note) })
    await breathe(content.length)
  }
  // A part counts by what it says itself: its note, which has the title, is beside it.
  const shownOfPart = share(MOST_CHARACTERS, parts, longest)
  for (const observation of await observationTexts(reader, parts, share(MOST_READ, parts, LONGEST_READ))) {
    const { note_id: noteId, position, content, context } = observation
    const text = excerptOf(`${withCategory(observation)} ${context ?? ''}`, wanted, shownOfPart)
    if (notes.has(noteId)) texts.set(hitKey({ kind: 'observation', noteId, position }), { title: '', text })
    await breathe(content.length)
  }
  for (const relation of await hitRelations(reader, of('relation'))) {
    const { from_id: noteId, position, relation_type: type, to_name: name, context } = relation
    const key = hitKey({ kind: 'relation', noteId, position })
    if (notes.has(noteId)) texts.set(key, { title: '', text: `${type} ${name} ${context ?? ''}` })
  }
  return texts
}

/** Of so many characters what each may have. */
function share(most: number, hits: readonly Hit[], longest: number): number {
  return Math.min(longest, Math.floor(most / Math.max(1, hits.length)))
}
