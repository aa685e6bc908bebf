import { setTimeout as delay } from 'node:timers/promises'
import { benchDirectory } from '../bench-directory.ts'
import { fillNotes } from '../fill-notes.ts'
import { naturalNote, wordOf } from '../natural-notes.ts'
import { median, percentile, type Scenario } from '../scenario.ts'
import { startProduct, TOKEN } from '../server-process.ts'

const FEW = 10_000
const MANY = 100_000
const QUESTIONS = 150
const ROUNDS = 2
const KINDS = ['two words', 'common words', 'hybrid', 'vector'] as const
type Kind = (typeof KINDS)[number]
type Times = Record<Kind, number[]>

export const scenario: Scenario = {
  description: `searches one after the other among ${MANY} notes against the same among ${FEW}, SQLite, built-in model`,
  async run(say) {
    const servers = [await prepare(FEW, say), await prepare(MANY, say)]
    const times = servers.map((): Times => ({ 'two words': [], 'common words': [], hybrid: [], vector: [] }))
    // The first round only warms up: the first question by meaning reads all vectors.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const kind of KINDS) {
        for (const [at, server] of servers.entries()) {
          const asked = await server.ask(kind)
          if (round > 0) times[at]?.[kind].push(...asked)
        }
      }
      say(`round ${round} of ${ROUNDS}`)
    }
    for (const { stop } of servers) await stop()
    const [few, many] = times as [Times, Times]
    const p95 = (list: number[]) => percentile(list, 95)
    return {
      columns: ['search', ...[FEW, MANY].flatMap((notes) => [`p50 ms, ${notes}`, `p95 ms, ${notes}`]), 'p95, x'],
      rows: KINDS.map((kind) => [
        kind,
        ...[few, many].flatMap((one) => [median(one[kind]), p95(one[kind])]),
        p95(many[kind]) / p95(few[kind]),
      ]),
      targets: [
        { name: 'two words, p95', value: p95(many['two words']), unit: 'ms', below: 20 },
        { name: 'common words, p95', value: p95(many['common words']), unit: 'ms', below: 20 },
        { name: 'hybrid, p95', value: p95(many.hybrid), unit: 'ms', below: 30 },
        { name: 'two words, p95', value: p95(many['two words']) / p95(few['two words']), unit: 'x', below: 4 },
        {
          name: 'hybrid against words and vectors, median',
          value: median(many.hybrid) / (median(many['two words']) + median(many.vector)),
          unit: 'x',
          below: 2,
        },
      ],
    }
  },
}

async function prepare(notes: number, say: (line: string) => void) {
  const directory = benchDirectory()
  const env = { COMMONPLACE_ADMIN_TOKEN: TOKEN }
  await (await startProduct(directory, env)).stop()
  say(`filling ${notes} notes`)
  const { projectId } = await fillNotes(directory, notes, { sample: naturalNote })
  const product = await startProduct(directory, env)
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const call = async (path: string, init: RequestInit = {}) =>
    fetch(`${product.url}/v2/projects/${projectId}${path}`, { ...init, headers })
  const search = (body: object) => call('/search/', { method: 'POST', body: JSON.stringify(body) })
  say('waiting for words and vectors')
  while ((await search({ text: wordOf(0) })).status !== 200);
  while ((await pending()) > 0) await delay(500)
  return { ask, stop: () => product.stop() }

  async function pending(): Promise<number> {
    const info = (await (await call('/info')).json()) as { embedding_status: { pending_entities: number } }
    return info.embedding_status.pending_entities
  }

  async function ask(kind: Kind): Promise<number[]> {
    const times: number[] = []
    for (let i = 0; i < QUESTIONS; i++) {
      const body = JSON.stringify(bodyOf(kind, Math.floor(Math.random() * notes)))
      const began = performance.now()
      const answer = await call('/search/', { method: 'POST', body })
      const { results } = (await answer.json()) as { results: unknown[] }
      times.push(performance.now() - began)
      // Words in a row that mean nothing together may be near to nothing.
      const isFound = results.length > 0 || kind === 'vector'
      if (answer.status !== 200 || !isFound) throw new Error(`${body} found nothing`)
    }
    return times
  }
}

/** A question that a note answers: words that stand in it, or words that stand in most notes. */
function bodyOf(kind: Kind, number: number): object {
  const any = (count: number) => wordOf(Math.floor(Math.random() * count))
  if (kind === 'common words') return { text: `${any(10)} ${any(10)}` }
  const words = naturalNote(number).content.match(/[a-z]{5,}/g) ?? []
  const at = Math.floor(Math.random() * (words.length - 8))
  const [length, type] = kind === 'two words' ? [2, 'fts'] : [6, kind]
  return { text: words.slice(at, at + length).join(' '), retrieval_mode: type }
}
