// The search by meaning on a PostgreSQL that has pgvector.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { NearTableKeeper } from '../../src/knowledge/semantic/search/near-table-keeper.ts'
import { openVectorSearch } from '../../src/knowledge/semantic/search/open-vector-search.ts'
import { NearTable } from '../../src/knowledge/semantic/search/store-near-table.ts'
import { connectVectors, type VectorConnection } from '../../src/knowledge/semantic/search/store-vector-connection.ts'
import {
  endOfChange,
  type StoredVector,
  VectorSource,
} from '../../src/knowledge/semantic/search/store-vector-source.ts'
import { ThreadVectorSearch } from '../../src/knowledge/semantic/search/thread-vector-search.ts'
import { VectorKeeper } from '../../src/knowledge/semantic/search/vector-keeper.ts'
import { encodeVector } from '../../src/knowledge/semantic/vector-bytes.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { type PgvectorServer, startPgvectorServer } from '../support/pgvector-server.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { tempDir } from '../support/temp-dir.ts'
import { nearestByForce, randomNumbers, randomVector, VectorRows } from './vector-rows.ts'

type Notes = Map<number, Float32Array[]>

const D = 24
const goOn = () => {}

describe('the search by meaning with pgvector', () => {
  let server: PgvectorServer
  let db: Database
  let connection: VectorConnection
  let table: NearTable
  const random = randomNumbers(11)
  const trouble: unknown[] = []

  before(async () => {
    server = await startPgvectorServer()
    const options = { clock: new SystemClock(), log: silentLogger() }
    db = await openDatabase({ databaseUrl: server.url, dataDir: tempDir(), poolSize: 2, ...options })
    await migrate(db, options)
    connection = connectVectors({ engine: 'postgres', url: server.url })
    table = (await NearTable.open(connection)) as NearTable
  })

  after(async () => {
    await connection.close()
    await db.close()
    await server[Symbol.asyncDispose]()
  })

  function keeper({ most = 1_000, maxBytes = 16 * 1_048_576, table: used = table } = {}) {
    const source = new VectorSource(connection)
    const memory = new VectorKeeper(source, maxBytes)
    const onTrouble = (error: unknown) => trouble.push(error)
    return { memory, near: new NearTableKeeper({ source, table: used, memory, onTrouble, most }) }
  }

  function someNotes(count: number, first = 1): Notes {
    return new Map(Array.from({ length: count }, (_, at) => [first + at, [randomVector(D, random)]]))
  }

  async function assertNearest(near: NearTableKeeper, projectId: number, notes: Notes, k = 10): Promise<void> {
    const vector = randomVector(D, random)
    const found = await near.nearest({ projectId, modelId: 1, vector, k }, goOn)
    const expected = nearestByForce(notes, vector).slice(0, k)
    assert.deepEqual(
      found.map(({ noteId, number }) => [noteId, number]),
      expected.map(({ noteId, number }) => [noteId, number]),
    )
    for (const [at, { similarity }] of found.entries()) {
      assert.ok(Math.abs(similarity - (expected[at]?.similarity ?? 0)) < 1e-5)
    }
    assert.deepEqual(trouble, [])
  }

  test('finds a small project in the table, without memory, after every change', async () => {
    const { near, memory } = keeper()
    const rows = new VectorRows(db, 1)
    await assertNearest(near, 1, new Map())
    const notes = someNotes(60)
    await rows.put(notes)
    await assertNearest(near, 1, notes)
    const changed: Notes = new Map([
      ...someNotes(5, 20),
      [30, []],
      [31, [randomVector(D, random), randomVector(D, random)]],
    ])
    await rows.put(changed)
    const now = new Map([...notes, ...changed])
    await assertNearest(near, 1, now)
    await assertNearest(near, 1, now, 500)
    assert.equal(memory.live, 0)
    await rows.forget()
    await assertNearest(near, 1, new Map())
    const again = someNotes(20)
    await rows.put(again)
    await assertNearest(near, 1, again)
  })

  test('finds everything from memory while the table is far behind, and in the table afterwards', async () => {
    const { near, memory } = keeper()
    const notes = someNotes(450)
    await new VectorRows(db, 2).put(notes)
    await assertNearest(near, 2, notes)
    assert.equal(memory.live, 450)
    // One that ends in between leaves the rest to others.
    await near.close()
    const next = keeper()
    await assertNearest(next.near, 2, notes)
    await next.near.filled()
    const fresh = keeper()
    await assertNearest(fresh.near, 2, notes)
    assert.equal(fresh.memory.live, 0)
  })

  test('finds a large project from memory, and in the table what has no room there', async () => {
    const notes = someNotes(150)
    await new VectorRows(db, 3).put(notes)
    const roomy = keeper({ most: 100 })
    await assertNearest(roomy.near, 3, notes)
    assert.equal(roomy.memory.live, 150)
    const tight = keeper({ most: 100, maxBytes: 1 })
    await assertNearest(tight.near, 3, notes)
    assert.equal(tight.memory.live, 0)
  })

  test('leaves out what the extension would refuse', async () => {
    const notes = someNotes(10)
    const rows = new VectorRows(db, 4)
    await rows.put(notes)
    await rows.put(
      new Map([
        [100, [randomVector(8, random)]],
        [101, [new Float32Array(D).fill(Number.NaN)]],
      ]),
    )
    await assertNearest(keeper().near, 4, notes, 50)
  })

  test('takes over notes of many chunks in parts, one after the other, and goes on behind the last of them', async () => {
    const ofNote = Array.from({ length: 120 }, () => randomVector(D, random))
    const notes: Notes = new Map(Array.from({ length: 12 }, (_, at) => [at + 1, ofNote]))
    await new VectorRows(db, 7).put(notes)
    const key = { projectId: 7, modelId: 1 }
    const parts: [after: number, chunks: number][] = []
    let atOnce = 0
    const watched = Object.create(table, {
      add: {
        value: async (dimensions: number, rows: readonly StoredVector[]) => {
          assert.equal(++atOnce, 1)
          parts.push([(await table.state(key)).note_id, rows.length])
          await table.add(dimensions, rows)
          atOnce--
        },
      },
      state: { value: table.state.bind(table) },
      setState: { value: table.setState.bind(table) },
      nearest: { value: table.nearest.bind(table) },
    }) as NearTable
    const { near } = keeper({ most: 2_000, table: watched })
    const vector = randomVector(D, random)
    const ask = () => near.nearest({ ...key, vector, k: 3 }, goOn)
    await Promise.all([ask(), ask()])
    await near.filled()
    assert.deepEqual(parts, [
      [0, 600],
      [5, 600],
      [10, 240],
    ])
    assert.deepEqual(await table.state(key), endOfChange(1))
    assert.deepEqual(trouble, [])
  })

  test('sends a very long note to the table in several pieces', async () => {
    const sizes: number[] = []
    const watched: VectorConnection = {
      ...connection,
      ask: (sql, values) => {
        const [, texts] = values
        if (Array.isArray(texts)) sizes.push(texts.join('').length)
        return connection.ask(sql, values)
      },
    }
    const row = { note_id: 1, kind: 0, position: 0, number: 0, vector: encodeVector(randomVector(D, random)) }
    // None of them is there any more, so nothing comes of it.
    const rows = Array.from({ length: 25_000 }, (_, at) => ({ ...row, id: 1_000_000 + at }))
    await ((await NearTable.open(watched)) as NearTable).add(D, rows)
    assert.equal(sizes.length, 3)
    assert.ok(Math.max(...sizes) < 8_000_000, `${sizes}`)
  })

  test('takes vectors out of the table with the rows they were made from', async () => {
    const rows = new VectorRows(db, 5)
    await rows.put(someNotes(10))
    await keeper().near.nearest({ projectId: 5, modelId: 1, vector: randomVector(D, random), k: 1 }, goOn)
    const count = async () => {
      const text = 'select count(*) as count from note_vectors_near where project_id = 5'
      return (await connection.ask<{ count: number }>(text, []))[0]?.count
    }
    assert.equal(await count(), 10)
    await rows.forget()
    assert.equal(await count(), 0)
  })

  test('is what the thread uses by itself', async () => {
    const notes = someNotes(30)
    await new VectorRows(db, 6).put(notes)
    const settings = { vector_memory_bytes: 1_048_576 }
    await using search = openVectorSearch({ db, clock: new SystemClock(), log: silentLogger(), settings })
    const vector = randomVector(D, random)
    const found = await search.nearest({ projectId: 6, modelId: 1, vector, k: 5 })
    assert.deepEqual(
      found.map(({ noteId }) => noteId),
      nearestByForce(notes, vector)
        .slice(0, 5)
        .map(({ noteId }) => noteId),
    )
    assert.equal((await table.state({ projectId: 6, modelId: 1 })).seq, 1)
  })

  test('is used by a thread that was started while the database was away', async () => {
    await new VectorRows(db, 8).put(someNotes(3))
    await using proxy = await startTcpProxy(server.url)
    const place = { engine: 'postgres', url: proxy.url } as const
    const options = { place, maxBytes: 1_048_576, clock: new SystemClock(), log: silentLogger() }
    await using search = new ThreadVectorSearch(options)
    const ask = () => search.nearest({ projectId: 8, modelId: 1, vector: randomVector(D, random), k: 3 })
    proxy.hangUp()
    await assert.rejects(ask(), { code: 'unavailable' })
    proxy.speakAgain()
    assert.equal((await ask()).length, 3)
    assert.equal((await table.state({ projectId: 8, modelId: 1 })).seq, 1)
  })
})
