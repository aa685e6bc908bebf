// Ways to rank the notes of a collection. `text` and `hybrid` are the product's order over all notes, or over the best of a first
// stage where there are many; the others lie outside the product: what the model and a plain word count can do.

import { loadWordMeanings } from '../../src/knowledge/search/meaning/word-meanings.ts'
import { rankNotes } from '../../src/knowledge/search/rank/rank-notes.ts'
import { BuiltinModel } from '../../src/knowledge/semantic/builtin/builtin-model.ts'
import type { BenchCollection, BenchNote } from './collections.ts'

const MEANINGS = await loadWordMeanings()

/** A score for each note, in the collection's order. */
export type ScoreNotes = (question: string) => number[]
export type Ranker = (collection: BenchCollection, chunkLength: number) => ScoreNotes

export const RANKERS: Record<string, Ranker> = { text, vector, hybrid, bm25, summed }

let loaded: BuiltinModel | undefined

function vector({ documents }: BenchCollection, chunkLength: number): ScoreNotes {
  loaded ??= BuiltinModel.load()
  const model = loaded
  const chunks = documents.map((note) => model.embed(chunksOf(note, chunkLength)))
  return (question) => {
    const [asked = new Float32Array()] = model.embed([question])
    return chunks.map((vectors) => Math.max(...vectors.map((one) => dot(one, asked))))
  }
}

const COMMON = new Set(
  'a an the of to in on at by for from with as is are was were be been being am do does did have has had will would can could i you he she it we they me him her us them my your his its our their this that these those and or but if so than then there here not what when where who how which why s'.split(
    ' ',
  ),
)

function bm25({ documents }: BenchCollection): ScoreNotes {
  const counted = documents.map(({ title, body }) => Map.groupBy(wordsOf(`${title}\n${body}`), (word) => word))
  const lengths = counted.map((words) => [...words.values()].reduce((sum, { length }) => sum + length, 0))
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  return (question) => {
    const scores = documents.map(() => 0)
    for (const word of new Set(wordsOf(question))) {
      const holding = counted.filter((words) => words.has(word)).length
      const rarity = Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5))
      for (const [index, words] of counted.entries()) {
        const count = words.get(word)?.length ?? 0
        const length = (lengths[index] ?? 0) / mean
        scores[index] = (scores[index] ?? 0) + (rarity * count * 2.2) / (count + 1.2 * (0.25 + 0.75 * length))
      }
    }
    return scores
  }
}

/** How many notes the first stage hands on, by words and by meaning. */
const [MOST_BY_WORDS, MOST_BY_MEANING] = [150, 100]

function text(collection: BenchCollection): ScoreNotes {
  const byWord = bm25(collection)
  return (question) => ranked(collection, question, firstOf(byWord(question), MOST_BY_WORDS), null)
}

function hybrid(collection: BenchCollection, chunkLength: number): ScoreNotes {
  const [byMeaning, byWord] = [vector(collection, chunkLength), bm25(collection)]
  return (question) => {
    const similarities = byMeaning(question)
    const near = new Set(firstOf(similarities, MOST_BY_MEANING))
    const found = new Set([...firstOf(byWord(question), MOST_BY_WORDS), ...near])
    return ranked(collection, question, [...found], (note) => (near.has(note) ? similarities[note] : undefined))
  }
}

function firstOf(scores: readonly number[], most: number): number[] {
  const order = scores.map((_, note) => note).sort((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0))
  return order.slice(0, most)
}

function ranked(
  { documents }: BenchCollection,
  question: string,
  found: readonly number[],
  similarityOf: ((note: number) => number | undefined) | null,
): number[] {
  const candidates = found.map((noteId) => {
    const { title = '', body = '' } = documents[noteId] ?? {}
    const similarity = similarityOf?.(noteId)
    return { noteId, title, text: body, ...(similarity !== undefined && { similarity }) }
  })
  const meaning = similarityOf === null ? null : MEANINGS
  const scores = documents.map(() => 0)
  for (const { noteId, score } of rankNotes(question, candidates, { notes: documents.length }, meaning))
    scores[noteId] = score
  return scores
}

/** Vectors and plain words, each brought to mean 0 and deviation 1 over the notes. */
function summed(collection: BenchCollection, chunkLength: number): ScoreNotes {
  const [byMeaning, byWord] = [vector(collection, chunkLength), bm25(collection)]
  return (question) => {
    const meaning = standardised(byMeaning(question))
    return standardised(byWord(question)).map((score, index) => score + 0.6 * (meaning[index] ?? 0))
  }
}

/** Lines joined up to the length; a longer one is cut with an overlap. The title leads each chunk. */
function chunksOf({ title, body }: BenchNote, chunkLength: number): string[] {
  const chunks: string[] = []
  let current = ''
  for (const line of body.split('\n')) {
    for (let start = 0; start === 0 || start + 120 < line.length; start += chunkLength - 120) {
      const piece = line.slice(start, start + chunkLength)
      if (current !== '' && current.length + piece.length + 1 > chunkLength) {
        chunks.push(current)
        current = ''
      }
      current = current === '' ? piece : `${current}\n${piece}`
    }
  }
  chunks.push(current)
  return chunks.map((chunk) => (title === '' ? chunk : `${title}\n\n${chunk}`))
}

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.filter((word) => !COMMON.has(word)).map(stemOf)
}

const ENDINGS = ['ingly', 'edly', 'ings', 'ies', 'ing', 'ied', 'ed', 'es', 's', 'ly']

/** A crude stem: enough for a yardstick. */
function stemOf(word: string): string {
  const ending = ENDINGS.find((candidate) => word.endsWith(candidate) && word.length - candidate.length >= 3) ?? ''
  let stem = word.slice(0, word.length - ending.length)
  if (ending === 'ies' || ending === 'ied') stem += 'y'
  if (stem.length > 3 && stem.at(-1) === stem.at(-2) && !/[ls]$/.test(stem)) stem = stem.slice(0, -1)
  return stem.length > 3 && stem.endsWith('e') ? stem.slice(0, -1) : stem
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let i = 0; i < one.length; i++) sum += (one[i] ?? 0) * (other[i] ?? 0)
  return sum
}

function standardised(scores: readonly number[]): number[] {
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
  const deviation = Math.sqrt(scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / scores.length)
  return scores.map((score) => (deviation === 0 ? 0 : (score - mean) / deviation))
}
