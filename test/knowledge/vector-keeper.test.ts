// The search over copies in memory, without its thread: what it finds is what comparing every stored vector finds.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { placeOf } from '../../src/knowledge/semantic/search/open-vector-search.ts'
import { connectVectors, type VectorConnection } from '../../src/knowledge/semantic/search/store-vector-connection.ts'
import { VectorSource } from '../../src/knowledge/semantic/search/store-vector-source.ts'
import { VectorKeeper } from '../../src/knowledge/semantic/search/vector-keeper.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { nearestByForce, randomNumbers, randomVector, VectorRows } from './vector-rows.ts'

type Notes = Map<number, Float32Array[]>

const MUCH = 64 * 1_048_576
const goOn = () => {}

/** Gives up when it was asked so often. */
function givingUp(most: number): () => void {
  let asked = 0
  return () => {
    if (asked++ >= most) throw new Error('given up')
  }
}

eachDatabase('the nearest vectors', (context) => {
  const connections: VectorConnection[] = []
  after(() => Promise.all(connections.map((connection) => connection.close())))

  function keeperOf(db: Database, maxBytes = MUCH): VectorKeeper {
    const connection = connectVectors(placeOf(db))
    connections.push(connection)
    return new VectorKeeper(new VectorSource(connection), maxBytes)
  }

  function fill(notes: Notes, count: number, dimensions: number, random: () => number): Notes {
    for (let id = notes.size + 1; notes.size < count; id++) {
      notes.set(
        id,
        Array.from({ length: 1 + (id % 3) }, () => randomVector(dimensions, random)),
      )
    }
    return notes
  }

  /** Asks and compares: the first are the first, in order, with their real similarity. */
  async function assertNearest(
    keeper: VectorKeeper,
    notes: Notes,
    vector: Float32Array,
    k: number,
    projectId = 1,
  ): Promise<void> {
    const found = await keeper.nearest({ projectId, modelId: 1, vector, k }, goOn)
    const all = nearestByForce(notes, vector)
    assert.equal(found.length, Math.min(k, all.length))
    const real = new Map(all.map((row) => [`${row.noteId} ${row.number}`, row.similarity]))
    const least = all[found.length - 1]?.similarity ?? 0
    let hits = 0
    for (const [at, { noteId, number, similarity }] of found.entries()) {
      assert.ok(Math.abs(similarity - (real.get(`${noteId} ${number}`) ?? Number.NaN)) < 1e-5)
      assert.ok(at === 0 || (found[at - 1]?.similarity ?? 0) >= similarity)
      if (similarity >= least - 1e-6) hits++
    }
    assert.ok(hits >= 0.99 * found.length, `${hits} of the ${found.length} nearest were found`)
  }

  for (const dimensions of [8, 9, 31, 256, 1000, 4096]) {
    test(`are found among random ones with ${dimensions} dimensions`, async () => {
      const db = await context.open()
      const random = randomNumbers(dimensions)
      const notes = fill(new Map(), dimensions > 256 ? 150 : 1_000, dimensions, random)
      await new VectorRows(db).put(notes)
      const keeper = keeperOf(db)
      for (const k of [1, 10, 100]) await assertNearest(keeper, notes, randomVector(dimensions, random), k)
    })
  }

  test('are found after any inserts, changes and deletions', async () => {
    const change = fc.record({
      noteId: fc.integer({ min: 1, max: 40 }),
      chunks: fc.integer({ min: 0, max: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 12 }), { maxLength: 8 }),
        fc.integer(),
        async (steps, seed) => {
          const db = await context.open()
          const random = randomNumbers(seed)
          const rows = new VectorRows(db)
          const keeper = keeperOf(db)
          const notes: Notes = new Map()
          for (const step of steps) {
            const changed: Notes = new Map(
              step.map(({ noteId, chunks }) => [
                noteId,
                Array.from({ length: chunks }, () => randomVector(24, random)),
              ]),
            )
            for (const [noteId, vectors] of changed) notes.set(noteId, vectors)
            await rows.put(changed)
            await assertNearest(keeper, notes, randomVector(24, random), 7)
          }
          await db.close()
        },
      ),
      { numRuns: context.engine === 'sqlite' ? 12 : 4 },
    )
  })

  test('are all there are when more are asked for, and none in an empty project', async () => {
    const db = await context.open()
    const random = randomNumbers(1)
    const keeper = keeperOf(db)
    await assertNearest(keeper, new Map(), randomVector(16, random), 5)
    const notes = fill(new Map(), 9, 16, random)
    await new VectorRows(db).put(notes)
    await assertNearest(keeper, notes, randomVector(16, random), 1_000)
  })

  test('are found among vectors of zeros, which are near to nothing, and by a question of zeros', async () => {
    const db = await context.open()
    const random = randomNumbers(2)
    const notes = fill(new Map(), 20, 16, random)
    for (const id of [3, 7, 30, 31]) notes.set(id, [new Float32Array(16), randomVector(16, random)])
    await new VectorRows(db).put(notes)
    const keeper = keeperOf(db)
    await assertNearest(keeper, notes, randomVector(16, random), 200)
    await assertNearest(keeper, notes, new Float32Array(16), 10)
  })

  test('are never vectors of another length, or with something in them that is no number', async () => {
    const db = await context.open()
    const random = randomNumbers(3)
    const rows = new VectorRows(db)
    const notes = fill(new Map(), 10, 16, random)
    await rows.put(notes)
    await rows.put(
      new Map([
        [100, [randomVector(8, random)]],
        [101, [new Float32Array(16).fill(Number.NaN)]],
        [102, [new Float32Array(16).fill(Number.POSITIVE_INFINITY)]],
      ]),
    )
    await assertNearest(keeperOf(db), notes, randomVector(16, random), 50)
  })

  test('are those of the project and model that were asked for', async () => {
    const db = await context.open()
    const random = randomNumbers(4)
    const worlds = [1, 2, 3].map((projectId) => ({ projectId, notes: fill(new Map(), 50, 16, random) }))
    for (const { projectId, notes } of worlds) await new VectorRows(db, projectId).put(notes)
    await new VectorRows(db, 1, 2).put(fill(new Map(), 20, 16, random))
    const keeper = keeperOf(db)
    for (const { projectId, notes } of worlds)
      await assertNearest(keeper, notes, randomVector(16, random), 10, projectId)
  })

  test('are those that are there now, when everything was taken away and made anew meanwhile', async () => {
    const db = await context.open()
    const random = randomNumbers(5)
    const rows = new VectorRows(db)
    const keeper = keeperOf(db)
    const before = fill(new Map(), 30, 16, random)
    await rows.put(before)
    await assertNearest(keeper, before, randomVector(16, random), 10)
    await rows.forget()
    await assertNearest(keeper, new Map(), randomVector(16, random), 10)
    await rows.put(before)
    await assertNearest(keeper, before, randomVector(16, random), 10)
    await rows.forget()
    const later: Notes = new Map()
    for (let step = 0; step < 3; step++) await rows.put(fill(later, 10 * (step + 1), 16, random))
    await assertNearest(keeper, later, randomVector(16, random), 10)
  })

  test('are found within the memory that is allowed, whatever is asked', async () => {
    const db = await context.open()
    const random = randomNumbers(6)
    const memory = 1_048_576
    const keeper = keeperOf(db, memory)
    // Three of the projects fit together, the last one does not fit alone.
    const worlds = [400, 400, 400, 400, 1_200].map((count, at) => ({
      projectId: at + 1,
      notes: fill(new Map(), count, 256, random),
    }))
    for (const { projectId, notes } of worlds) await new VectorRows(db, projectId).put(notes)
    for (let round = 0; round < 2; round++) {
      for (const { projectId, notes } of worlds) {
        await assertNearest(keeper, notes, randomVector(256, random), 10, projectId)
        assert.ok(keeper.bytes <= memory)
      }
    }
    assert.ok(keeper.live >= 800)
  })

  test('are found when a project outgrows the memory, and when it shrinks again', async () => {
    const db = await context.open()
    const random = randomNumbers(7)
    const memory = 1_048_576
    const keeper = keeperOf(db, memory)
    const rows = new VectorRows(db)
    const notes = fill(new Map(), 1_100, 256, random)
    await rows.put(notes)
    await assertNearest(keeper, notes, randomVector(256, random), 10)
    assert.ok(keeper.live > 0)
    const more: Notes = fill(new Map(notes), 1_900, 256, random)
    const added = new Map([...more].slice(notes.size))
    await rows.put(added)
    await assertNearest(keeper, more, randomVector(256, random), 10)
    assert.equal(keeper.live, 0)
    const gone: Notes = new Map([...more.keys()].slice(300).map((noteId) => [noteId, []]))
    await rows.put(gone)
    await assertNearest(keeper, new Map([...more].slice(0, 300)), randomVector(256, random), 10)
    assert.ok(keeper.live > 0)
    assert.ok(keeper.bytes <= memory)
  })

  test('are found by the next one, when somebody gave up while they were read', async () => {
    const db = await context.open()
    const random = randomNumbers(8)
    const notes = fill(new Map(), 1_500, 256, random)
    const rows = new VectorRows(db)
    await rows.put(notes)
    const keeper = keeperOf(db)
    const question = { projectId: 1, modelId: 1, vector: randomVector(256, random), k: 10 }
    for (const most of [0, 1, 2])
      await assert.rejects(keeper.nearest(question, givingUp(most)), { message: 'given up' })
    await assertNearest(keeper, notes, question.vector, 10)
    // More than are read at once, all of one change.
    const changed: Notes = new Map([...notes.keys()].map((noteId) => [noteId, [randomVector(256, random)]]))
    await rows.put(changed)
    for (const most of [1, 1]) await assert.rejects(keeper.nearest(question, givingUp(most)), { message: 'given up' })
    await assertNearest(keeper, changed, question.vector, 10)
  })
})
