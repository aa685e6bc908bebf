import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { eachDatabase } from '../support/each-database.ts'
import { EmbeddingServer, settingsOf } from '../support/embedding-server.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { HastyClock } from '../support/hasty-clock.ts'
import type { NotesWorld } from './notes-world.ts'
import { createNote, openNotes, RunningSync, storedVectors } from './semantic-world.ts'

const HOUR_MS = 3_600_000

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
    server.answer = () => ({ status: 503, body: {} })
    const { external_id: noteId } = await createNote(world, 'Bad', 'text of Bad')
    await createNote(world, 'Good', 'text of Good')
    await tries(9, running, world, clock)
    assert.deepEqual(await counted(), { pending: 2, failed: 0, embeddings: 0 })

    server.answer = ({ input }) => (input.some((text) => text.includes('of Bad')) ? { status: 503 } : undefined)
    await tries(1, running, world, clock)
    assert.deepEqual(await counted(), { pending: 1, failed: 0, embeddings: 1 })
    await tries(4, running, world, clock)
    assert.deepEqual(await counted(), { pending: 0, failed: 1, embeddings: 1 })
    await createNote(world, 'Next', 'text of another')
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 2)

    server.answer = () => ({ status: 503, body: {} })
    const edit = { operation: 'append', content: 'more' }
    await world.notes.edit(world.writer, { projectId: world.projectId, noteId }, edit as never, {})
    await assert.rejects(running.sync.caughtUp(world.project.id), /answered 503/)
    assert.deepEqual(await counted(), { pending: 1, failed: 0, embeddings: 2 }, 'changed, it is tried again')
  })

  test('and asks for less in a minute puts no note aside', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    const clocks = { sync: clock, provider: new HastyClock() }
    await using running = new RunningSync(world.deps.db, settingsOf(server), clocks)
    server.answer = ({ input }) => (input.join().length > 10 ? { status: 429 } : undefined)
    await createNote(world, 'Long', 'text of some length')
    await tries(9, running, world, clock)
    const { pending, status } = await running.sync.status(world.project)
    assert.deepEqual({ pending, status }, { pending: 1, status: 'unavailable' })
  })

  test('and has a note to try again that changes meanwhile makes it wait once', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const clocks = { sync: new FakeClock(), provider: new HastyClock() }
    await using running = new RunningSync(world.deps.db, settingsOf(server), clocks)
    const pending = async () => (await running.sync.status(world.project)).pending
    server.answer = ({ input }) => (input.join().includes('poison') ? { status: 500, body: {} } : undefined)
    const { external_id: noteId } = await createNote(world, 'Bad', 'poison')
    await createNote(world, 'Good', 'food')
    await running.sync.caughtUp(world.project.id)
    assert.equal(await pending(), 1)
    server.answer = () => ({ status: 503, body: {} })
    const edit = { operation: 'append', content: 'more' }
    await world.notes.edit(world.writer, { projectId: world.projectId, noteId }, edit as never, {})
    await assert.rejects(running.sync.caughtUp(world.project.id), /answered 503/)
    assert.equal(await pending(), 1)
    await createNote(world, 'Other', 'food')
    assert.equal(await pending(), 2)
  })
})

eachDatabase('a service that is silent when it is first asked', ({ open }) => {
  test('is waited for a moment by who looks, then by nobody until it answers', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const silence = Promise.withResolvers<undefined>()
    server.answer = () => silence.promise
    const settings = { ...settingsOf(server), embedding_dimensions: null }
    const clock = new FakeClock()
    await using running = new RunningSync(world.deps.db, settings, { provider: clock })
    await createNote(world, 'A', 'some text')
    const shown = async () => {
      const { status, problem, pending, model } = await running.sync.status(world.project)
      return { status, problem, pending, model }
    }
    const waiting = shown()
    await clock.untilSet(5_000)
    await clock.advance(5_000)
    const problem = 'The embedding provider has not answered yet'
    for (const answer of [waiting, shown()]) {
      assert.deepEqual(await answer, { status: 'unavailable', problem, pending: 1, model: 'small' })
    }
    await assert.rejects(running.embeddings.serving(world.project.id), { message: problem })
    silence.resolve(undefined)
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual(await shown(), { status: 'ready', problem: null, pending: 0, model: 'small' })
  })

  test('does not hold up a stop', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    server.answer = () => 'nothing'
    const settings = { ...settingsOf(server), embedding_dimensions: null, embedding_timeout: HOUR_MS }
    await using running = new RunningSync(world.deps.db, settings)
    await server.received(1)
    await running.stop()
    assert.match(running.embeddings.problem ?? '', /stopping/)
  })
})

/** Passes time until the next try and no further: somebody looks around every other second. */
async function tries(
  count: number,
  { sync }: RunningSync,
  { deps: { db } }: NotesWorld,
  clock: FakeClock,
): Promise<void> {
  for (let n = 0; n < count; n++) {
    await sync.settled()
    const { rows } = await sql<{ at: number | null }>`
      select min(at) as at from (
        select due_at as at from project_embeddings union all select due_at from embedding_failures
      ) due where at > ${clock.now()}`.execute(db.query)
    await clock.advance(Math.max(0, ((rows[0]?.at ?? 0) - clock.now()) / 1_000) + 1)
    await sync.settled()
  }
}
