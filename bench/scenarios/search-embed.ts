import { DatabaseSync } from 'node:sqlite'
import { BuiltinModel } from '../../src/knowledge/semantic/builtin/builtin-model.ts'
import { chunkNote } from '../../src/knowledge/semantic/chunk/chunk-note.ts'
import { benchDirectory } from '../bench-directory.ts'
import { fillNotes } from '../fill-notes.ts'
import { loadPost } from '../load.ts'
import { sampleNote } from '../notes-data.ts'
import { median, type Scenario } from '../scenario.ts'
import { startProduct, TOKEN } from '../server-process.ts'

const CHUNKS = 100_000
const SAMPLES = 2_000
const ROUNDS = 5
const SECONDS = 2
const WARM_UP_SECONDS = 1
const STORED = 'select count(*) as count from note_vectors'
const WAITING = `
  select count(*) as count from note_changes where seq > coalesce((select max(synced_seq) from project_embeddings), 0)`
const CONNECTIONS = 64

export const scenario: Scenario = {
  description: `chunks that the built-in model embeds on one core; and creating notes while ${CHUNKS} chunks are embedded in the background against a server without semantic search, ${CONNECTIONS} connections, SQLite`,
  async run(say) {
    const { perSecond, perNote, chunkMs } = embedHere()
    say(`${Math.round(perSecond)} chunks/s, ${perNote.toFixed(1)} chunks per note`)
    const servers = { without: await prepare('false', perNote), with: await prepare('true', perNote) }
    const rates = { without: [] as number[], with: [] as number[] }
    const embedded: number[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      // One at a time, since the other would go on embedding; and in turns, since the machine may do something else.
      for (const name of ['without', 'with'] as const) {
        const { rate, chunks, waiting } = await servers[name].measure()
        rates[name].push(rate)
        if (name === 'with') embedded.push(chunks)
        if (name === 'with' && waiting === 0) throw new Error('Nothing was left to embed: the rate says nothing')
      }
      const last = [rates.without, rates.with, embedded].map((list) => Math.round(list.at(-1) as number))
      say(`round ${round} of ${ROUNDS}: ${last[0]} without, ${last[1]} with, ${last[2]} chunks/s`)
    }
    const share = median(rates.with.map((rate, at) => (100 * rate) / (rates.without[at] as number)))
    return {
      columns: ['what', 'per second', '%'],
      rows: [
        ['chunks embedded, one core', perSecond, null],
        ['notes created, no semantic search', median(rates.without), 100],
        ['notes created while chunks are embedded', median(rates.with), share],
        ['chunks embedded and stored meanwhile', median(embedded), null],
      ],
      targets: [
        { name: 'chunks per second on one core', value: perSecond, unit: '', atLeast: 10_000 },
        { name: 'creating while embedding, share of without', value: share, unit: '%', atLeast: 60 },
      ],
      details: { rates, embedded, perNote, chunkMs },
    }
  },
}

/** The model alone, over chunks as notes have them; and how long it takes to make these. */
function embedHere() {
  const model = BuiltinModel.load()
  const notes = Array.from({ length: SAMPLES }, (_, number) => sampleNote(number))
  const began = performance.now()
  const texts = notes
    .flatMap(({ title, content }) => chunkNote({ title, created_at: 0 }, content))
    .map(({ text }) => text)
  const chunkMs = (performance.now() - began) / SAMPLES
  const rates = Array.from({ length: ROUNDS }, () => {
    const from = performance.now()
    model.embed(texts)
    return (1_000 * texts.length) / (performance.now() - from)
  })
  return { perSecond: median(rates), perNote: texts.length / SAMPLES, chunkMs }
}

async function prepare(semantic: 'true' | 'false', perNote: number) {
  const env = { COMMONPLACE_ADMIN_TOKEN: TOKEN, COMMONPLACE_KNOWLEDGE__SEMANTIC_SEARCH_ENABLED: semantic }
  const directory = benchDirectory()
  const off = { ...env, COMMONPLACE_KNOWLEDGE__SEMANTIC_SEARCH_ENABLED: 'false' }
  await (await startProduct(directory, off)).stop()
  const { projectId } = await fillNotes(directory, Math.ceil(CHUNKS / perNote))
  const sample = sampleNote(CHUNKS)
  const create = (url: string, seconds: number) =>
    loadPost({
      seconds,
      connections: CONNECTIONS,
      url: `${url}/v2/${projectId}/knowledge/entities`,
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({
        title: 'Note [<id>]',
        directory: 'new',
        content: sample.content.replaceAll(sample.title, 'Note [<id>]'),
      }),
    })
  return {
    async measure() {
      const product = await startProduct(directory, env)
      const database = new DatabaseSync(`${directory}/commonplace.db`, { readOnly: true })
      const count = (sql: string) => (database.prepare(sql).get() as { count: number }).count
      await create(product.url, WARM_UP_SECONDS)
      const before = count(STORED)
      const rate = await create(product.url, SECONDS)
      const [after, waiting] = [count(STORED), count(WAITING)]
      database.close()
      await product.stop()
      return { rate, chunks: (after - before) / SECONDS, waiting }
    },
  }
}
