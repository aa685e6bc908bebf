// Retrieval quality: `node bench/search/score.ts --data <folder of conversations or set.json> --mode hybrid`.
import { parseArgs } from 'node:util'
import { type BenchCollection, readCollections } from './collections.ts'
import { RANKERS, type Ranker } from './rankers.ts'
import { figuresOf, meanFigures, type RankingFigures } from './ranking-figures.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    mode: { type: 'string', default: 'hybrid' },
    chunk: { type: 'string', default: '900' },
    questions: { type: 'string' },
  },
})
const ranker = RANKERS[values.mode]

if (values.data === undefined || ranker === undefined) {
  console.error(
    `score.ts --data <path> [--mode ${Object.keys(RANKERS).join('|')}] [--chunk 900] [--questions <most of a collection>]`,
  )
  process.exitCode = 2
} else {
  print(readCollections(values.data).map(fewer), ranker, Number(values.chunk))
}

function fewer(collection: BenchCollection): BenchCollection {
  return {
    ...collection,
    questions: collection.questions.slice(0, Number(values.questions ?? Number.POSITIVE_INFINITY)),
  }
}

function print(collections: readonly BenchCollection[], rank: Ranker, chunkLength: number): void {
  const rows = collections.map((collection) => [collection.name, score(collection, rank, chunkLength)] as const)
  const figures = rows.map(([, found]) => found)
  for (const [name, found] of rows) printRow(name, found)
  printRow('all questions', meanFigures(figures))
  printRow('collections alike', meanFigures(figures, true))
}

function score(collection: BenchCollection, rank: Ranker, chunkLength: number): RankingFigures {
  const scoreNotes = rank(collection, chunkLength)
  return meanFigures(
    collection.questions.map(({ text, relevant }) => {
      const scores = scoreNotes(text)
      const order = scores.map((_, index) => index).sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
      const ranked = order.map((index) => collection.documents[index]?.id ?? '')
      return figuresOf(ranked, relevant)
    }),
  )
}

function printRow(name: string, { questions, recallAt5, recallAt10, mrr, ndcgAt10 }: RankingFigures): void {
  const shown = { 'recall@5': recallAt5, 'recall@10': recallAt10, MRR: mrr, 'nDCG@10': ndcgAt10 }
  const cells = Object.entries(shown).map(([label, value]) => `${label} ${value.toFixed(3)}`)
  console.log(`${name.padEnd(20)} ${String(questions).padStart(5)}  ${cells.join('  ')}`)
}
