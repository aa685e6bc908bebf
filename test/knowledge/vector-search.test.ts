// The thread that searches vectors, and who asks it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openVectorSearch, placeOf } from '../../src/knowledge/semantic/search/open-vector-search.ts'
import { ThreadVectorSearch } from '../../src/knowledge/semantic/search/thread-vector-search.ts'
import { startVectorThread } from '../../src/knowledge/semantic/search/vector-thread.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { nearestByForce, randomNumbers, randomVector, VectorRows } from './vector-rows.ts'

const KEY = { projectId: 1, modelId: 1 }

eachDatabase('the search by meaning', (context) => {
  const searches: ThreadVectorSearch[] = []
  after(() => Promise.all(searches.map((search) => search[Symbol.asyncDispose]())))

  async function world(options: { clock?: FakeClock; startThread?: typeof startVectorThread } = {}) {
    const db = await context.open()
    const threads: Worker[] = []
    const startThread: typeof startVectorThread = (given) => {
      const thread = (options.startThread ?? startVectorThread)(given)
      threads.push(thread)
      return thread
    }
    const search = new ThreadVectorSearch({
      place: placeOf(db),
      maxBytes: 16 * 1_048_576,
      clock: options.clock ?? new SystemClock(),
      log: silentLogger(),
      startThread,
    })
    searches.push(search)
    return { db, search, threads }
  }

  async function filled(db: Database, count = 50) {
    const random = randomNumbers(count)
    const notes = new Map(Array.from({ length: count }, (_, at) => [at + 1, [randomVector(32, random)]]))
    const rows = new VectorRows(db)
    await rows.put(notes)
    return { notes, rows, vector: randomVector(32, random) }
  }

  test('answers many questions at a time with the nearest chunks, from one thread that the first one starts', async () => {
    const { db, search, threads } = await world()
    const { notes, vector } = await filled(db)
    assert.equal(threads.length, 0)
    const answers = await Promise.all([1, 5, 10].map((k) => search.nearest({ ...KEY, vector, k })))
    const expected = nearestByForce(notes, vector).map(({ noteId }) => noteId)
    for (const answer of answers) {
      assert.deepEqual(
        answer.map(({ noteId }) => noteId),
        expected.slice(0, answer.length),
      )
    }
    assert.deepEqual(Object.keys(answers[0]?.[0] ?? {}).sort(), [
      'hash',
      'kind',
      'noteId',
      'number',
      'position',
      'similarity',
    ])
    assert.equal(answers[0]?.[0]?.kind, 'note')
    assert.equal(threads.length, 1)
  })

  test('sees what was committed before the question, whoever wrote it', async () => {
    const { db, search } = await world()
    const { vector } = await filled(db)
    await search.nearest({ ...KEY, vector, k: 1 })
    const other = await context.openAgain(db)
    await new VectorRows(other).put(new Map([[1000, [vector]]]))
    const [best] = await search.nearest({ ...KEY, vector, k: 1 })
    assert.equal(best?.noteId, 1000)
    assert.ok((best?.similarity ?? 0) > 0.999)
    await new VectorRows(other).put(new Map([[1000, []]]))
    assert.notEqual((await search.nearest({ ...KEY, vector, k: 1 }))[0]?.noteId, 1000)
  })

  test('ends its thread after a while without questions, and starts another one for the next', async () => {
    const clock = new FakeClock()
    const { db, search, threads } = await world({ clock })
    const { vector } = await filled(db)
    const before = await search.nearest({ ...KEY, vector, k: 3 })
    const ended = once(threads[0] as Worker, 'exit')
    await clock.advance(300_000)
    await ended
    assert.deepEqual(await search.nearest({ ...KEY, vector, k: 3 }), before)
    assert.equal(threads.length, 2)
  })

  test('lets nobody wait who gave up, and answers the others', async () => {
    const { db, search } = await world()
    const { vector } = await filled(db)
    const giveUp = new AbortController()
    const gone = search.nearest({ ...KEY, vector, k: 3 }, giveUp.signal)
    const other = search.nearest({ ...KEY, vector, k: 3 })
    giveUp.abort(new Error('gone'))
    await assert.rejects(gone, { message: 'gone' })
    assert.equal((await other).length, 3)
    await assert.rejects(search.nearest({ ...KEY, vector, k: 3 }, giveUp.signal), { message: 'gone' })
  })

  test('says that it is unavailable when its thread dies, and has another one for the next question', async () => {
    let deaths = 0
    const { db, search } = await world({
      startThread: (options) => {
        if (deaths++ === 0) return new Worker('process.exit(1)', { eval: true })
        return startVectorThread(options)
      },
    })
    const { vector } = await filled(db)
    await assert.rejects(search.nearest({ ...KEY, vector, k: 3 }), { code: 'unavailable' })
    assert.equal((await search.nearest({ ...KEY, vector, k: 3 })).length, 3)
  })

  test('says that it is unavailable when the vectors cannot be read, and goes on when they can again', async () => {
    const { db, search } = await world()
    const { vector } = await filled(db)
    const rename = (from: string, to: string) =>
      db.write((tx) =>
        tx.query.schema
          .alterTable(from)
          .renameTo(to)
          .execute()
          .then(() => {}),
      )
    await rename('project_embeddings', 'elsewhere')
    await assert.rejects(search.nearest({ ...KEY, vector, k: 3 }), { code: 'unavailable' })
    await rename('elsewhere', 'project_embeddings')
    assert.equal((await search.nearest({ ...KEY, vector, k: 3 })).length, 3)
  })

  test('refuses questions that are none', async () => {
    const { search } = await world()
    const vector = new Float32Array(8)
    for (const bad of [new Float32Array(0), new Float32Array(8_193), Float32Array.of(1, Number.NaN)]) {
      await assert.rejects(search.nearest({ ...KEY, vector: bad, k: 1 }), RangeError)
    }
    for (const k of [0, -1, 1.5, Number.NaN]) await assert.rejects(search.nearest({ ...KEY, vector, k }), RangeError)
  })

  test('lets nobody wait when it is closed, and answers nobody afterwards', async () => {
    const db = await context.open()
    const { vector } = await filled(db)
    const settings = { vector_memory_bytes: 1_048_576 }
    const search = openVectorSearch({ db, clock: new SystemClock(), log: silentLogger(), settings })
    const waiting = assert.rejects(search.nearest({ ...KEY, vector, k: 3 }), { code: 'unavailable' })
    await search[Symbol.asyncDispose]()
    await waiting
    await assert.rejects(search.nearest({ ...KEY, vector, k: 3 }), { code: 'unavailable' })
  })
})
