import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachDatabase } from '../support/each-database.ts'
import { EmbeddingServer, settingsOf } from '../support/embedding-server.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { HastyClock } from '../support/hasty-clock.ts'
import { createNote, openNotes, RunningSync, storedVectors } from './semantic-world.ts'

const LONGEST_PAUSE_MS = 300_000

eachDatabase('a service that is busy again and again', ({ open }) => {
  test('with one text alone puts that note aside in the end; with all of them it puts none aside', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    await using running = new RunningSync(world.deps.db, settingsOf(server), {
      sync: clock,
      provider: new HastyClock(),
    })
    const counted = async () => {
      const { pending, failed, embeddings } = await running.sync.status(world.project)
      return { pending, failed, embeddings }
    }
    const pass = async (pauses: number, ms: number) => {
      for (let n = 0; n < pauses; n++) {
        await clock.advance(ms)
        await running.sync.settled()
      }
    }
    server.answer = () => ({ status: 503, body: {} })
    for (const title of ['Bad', 'Good']) await createNote(world, title, `text of ${title}`)
    await pass(9, LONGEST_PAUSE_MS + 60_000)
    assert.deepEqual(await counted(), { pending: 2, failed: 0, embeddings: 0 })

    server.answer = ({ input }) => (input.some((text) => text.includes('of Bad')) ? { status: 503 } : undefined)
    await pass(1, LONGEST_PAUSE_MS + 60_000)
    assert.deepEqual(await counted(), { pending: 1, failed: 0, embeddings: 1 })
    await pass(5, 2 * 3_600_000)
    assert.deepEqual(await counted(), { pending: 0, failed: 1, embeddings: 1 })
    await createNote(world, 'Next', 'text of another')
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 2)
  })

  test('and asks for less in a minute puts no note aside', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    const clocks = { sync: clock, provider: new HastyClock() }
    await using running = new RunningSync(world.deps.db, settingsOf(server), clocks)
    server.answer = ({ input }) => (input.join().length > 10 ? { status: 429 } : undefined)
    await createNote(world, 'Long', 'text of some length')
    for (let n = 0; n < 9; n++) {
      await clock.advance(LONGEST_PAUSE_MS + 60_000)
      await running.sync.settled()
    }
    const { pending, status } = await running.sync.status(world.project)
    assert.deepEqual({ pending, status }, { pending: 1, status: 'unavailable' })
  })
})
