import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { DeletedProjects } from '../../src/knowledge/project/deleted-projects.ts'
import { purgeProject } from '../../src/knowledge/project/purge-project.ts'
import { inspectChunks } from '../../src/knowledge/search/inspect/inspect-chunks.ts'
import { WorkerStop } from '../../src/platform/supervisor/supervisor.ts'
import { eachDatabase } from '../support/each-database.ts'
import { EMBEDDED_DIMENSIONS, EmbeddingServer, settingsOf } from '../support/embedding-server.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { HastyClock } from '../support/hasty-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { openWorld } from './notes-world.ts'
import { createNote, openNotes, RunningSync, slowly, storedVectors } from './semantic-world.ts'

const HOUR_MS = 3_600_000

eachDatabase('vectors from a service that fails', ({ open }) => {
  test('while the service is down the status says so; when it is back, everything is embedded', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    await using running = new RunningSync(world.deps.db, settingsOf(server), {
      sync: clock,
      provider: new HastyClock(),
    })
    server.answer = () => ({ status: 503, body: {} })
    for (const title of ['A', 'B']) await createNote(world, title, `text of ${title}`)
    await assert.rejects(running.sync.caughtUp(world.project.id), /answered 503/)
    const down = await running.sync.status(world.project)
    assert.equal(down.status, 'unavailable')
    assert.match(down.problem ?? '', /answered 503$/)
    assert.deepEqual({ pending: down.pending, failed: down.failed }, { pending: 2, failed: 0 })
    server.answer = () => undefined
    await clock.advance(10_000)
    await running.sync.caughtUp(world.project.id)
    const { status, embeddings, problem } = await running.sync.status(world.project)
    assert.deepEqual({ status, embeddings, problem }, { status: 'ready', embeddings: 2, problem: null })
  })

  test('what failed is tried again by itself, also when the alarm for it rings a moment too early', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const clock = new EarlyClock()
    await using running = new RunningSync(world.deps.db, settingsOf(server), {
      sync: clock,
      provider: new HastyClock(),
    })
    server.answer = () => ({ status: 503, body: {} })
    await createNote(world, 'A', 'some text')
    await assert.rejects(running.sync.caughtUp(world.project.id), /answered 503/)
    await running.sync.settled()
    server.answer = () => undefined
    const before = server.requests.length
    await clock.advance(10_000)
    await server.received(before + 1)
  })

  test('a service that asks for minutes of patience is left alone for so long, also before it was ever reached', async () => {
    const world = await openNotes(await open())
    await createNote(world, 'A', 'some text')
    await using server = await new EmbeddingServer().listen()
    server.answer = () => ({ status: 429, headers: { 'retry-after': '240' }, body: {} })
    for (const embedding_dimensions of [EMBEDDED_DIMENSIONS, null]) {
      server.requests.length = 0
      const [clock, provider] = [new FakeClock(), new FakeClock()]
      const settings = { ...settingsOf(server), embedding_dimensions }
      await using running = new RunningSync(world.deps.db, settings, { sync: clock, provider })
      await server.received(1)
      await running.sync.settled()
      for (let minutes = 0; minutes < 3; minutes++) {
        await Promise.all([clock.advance(60_000), provider.advance(60_000)])
        await running.sync.settled()
      }
      assert.equal(server.requests.length, 1)
      await Promise.all([clock.advance(70_000), provider.advance(70_000)])
      await running.sync.settled()
      assert.equal(server.requests.length, 2)
    }
  })

  test('a start tries again at once what failed before it: the operator may have corrected the key', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    const clocks = { sync: clock, provider: new HastyClock() }
    await createNote(world, 'A', 'some text')
    {
      server.answer = () => ({ status: 401, body: {} })
      await using running = new RunningSync(world.deps.db, settingsOf(server), clocks)
      await assert.rejects(running.sync.caughtUp(world.project.id), /correct knowledge.embedding_api_key/)
    }
    server.answer = () => undefined
    await using running = new RunningSync(world.deps.db, settingsOf(server), clocks)
    await running.sync.settled()
    const { status, problem } = await running.sync.status(world.project)
    assert.deepEqual({ status, problem }, { status: 'ready', problem: null })
  })

  test('a service that gives vectors of another size changes nothing that is stored', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    await using running = new RunningSync(world.deps.db, settingsOf(server), { provider: new HastyClock() })
    await createNote(world, 'A', 'first')
    await running.sync.caughtUp(world.project.id)
    server.answer = ({ input }) => ({ body: { data: input.map((_, index) => ({ index, embedding: [1, 2] })) } })
    await createNote(world, 'B', 'second')
    await assert.rejects(running.sync.caughtUp(world.project.id), /gave 2 dimensions instead of 16/)
    assert.deepEqual(
      (await storedVectors(world)).map(({ note, vector }) => [note, vector.length]),
      [['A', EMBEDDED_DIMENSIONS]],
    )
  })

  test('a note that the service refuses is tried again, then put aside; the others do not suffer', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    await using running = new RunningSync(world.deps.db, settingsOf(server), {
      sync: clock,
      provider: new HastyClock(),
    })
    const refuses = (texts: string[]) => texts.some((one) => one.includes('poison'))
    server.answer = ({ input }) =>
      refuses(input) ? { body: { data: input.map((_, index) => ({ index, embedding: ['NaN'] })) } } : undefined
    const { external_id: noteId } = await createNote(world, 'Bad', 'poison')
    for (const title of ['A', 'B']) await createNote(world, title, `text of ${title}`)
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual(new Set((await storedVectors(world)).map(({ note }) => note)), new Set(['A', 'B']))
    const waiting = await running.sync.status(world.project)
    assert.deepEqual({ pending: waiting.pending, failed: waiting.failed }, { pending: 1, failed: 0 })
    assert.deepEqual(await shownChunks(running, world, noteId), { isWaiting: true, statuses: ['pending'] })

    for (let tries = 2; tries <= 5; tries++) {
      // No further: on a busy machine one try may be over, and the next one due, before so much time has passed.
      const { due_at: dueAt } = await world.deps.db.query
        .selectFrom('embedding_failures')
        .select('due_at')
        .executeTakeFirstOrThrow()
      await clock.advance(((dueAt ?? 0) - clock.now()) / 1_000 + 1)
      await attempted(running, world, tries)
    }
    const { failed, pending, failures, isReindexRecommended, reindexReason } = await running.sync.status(world.project)
    assert.deepEqual({ failed, pending, isReindexRecommended }, { failed: 1, pending: 0, isReindexRecommended: true })
    assert.match(reindexReason ?? '', /^1 note could not be embedded/)
    assert.deepEqual(
      failures.map(({ external_id, title, attempts }) => ({ external_id, title, attempts })),
      [{ external_id: noteId, title: 'Bad', attempts: 5 }],
    )
    assert.match(failures[0]?.error ?? '', /gave a vector with NaN/)
    assert.deepEqual(await shownChunks(running, world, noteId), { isWaiting: false, statuses: ['missing'] })

    const place = { projectId: world.projectId, noteId }
    const edit = { operation: 'find_replace', find_text: 'poison', content: 'cure', expected_replacements: 1 }
    await world.notes.edit(world.writer, place, edit as never, {})
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 3)
    assert.equal((await running.sync.status(world.project)).failed, 0)
  })

  test('a text that the service falls over, or has no vector for, costs the other notes nothing', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    const clocks = { sync: new FakeClock(), provider: new HastyClock() }
    await using running = new RunningSync(world.deps.db, settingsOf(server), clocks)
    const answers = [{ status: 500, body: { error: 'input is too large' } }, { body: '{"data":[{"embedding":[NaN]}]}' }]
    for (const [at, answer] of answers.entries()) {
      server.answer = ({ input }) => (input.some((text) => text.includes(`poison ${at}`)) ? answer : undefined)
      await createNote(world, `Bad ${at}`, `poison ${at}`)
      await createNote(world, `Good ${at}`, 'food')
      await running.sync.caughtUp(world.project.id)
      const { status, embeddings, pending, problem } = await running.sync.status(world.project)
      const expected = { status: 'indexing', embeddings: at + 1, pending: at + 1, problem: null }
      assert.deepEqual({ status, embeddings, pending, problem }, expected)
    }
    const failures = await world.deps.db.query
      .selectFrom('embedding_failures')
      .select('error')
      .orderBy('note_id')
      .execute()
    assert.match(failures[0]?.error ?? '', /answered 500 \(input is too large\)$/)
    assert.match(failures[1]?.error ?? '', /did not answer with JSON$/)
  })

  test('a service that refuses every text puts no note aside', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    await using running = new RunningSync(world.deps.db, settingsOf(server), { provider: new HastyClock() })
    server.answer = () => ({ status: 400, body: { error: 'there is no such model' } })
    for (const title of ['A', 'B']) await createNote(world, title, `text of ${title}`)
    await assert.rejects(running.sync.caughtUp(world.project.id), /answered 400 to 1 texts \(there is no such model\)/)
    const { pending, failed } = await running.sync.status(world.project)
    assert.deepEqual({ pending, failed }, { pending: 2, failed: 0 })
  })

  test('whatever characters the service answers with, embedding goes on for the others', async () => {
    const db = await open()
    const one = await openNotes(db, 'one')
    const other = await openWorld(db, one.writer.principal, 'other')
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    const hostile = `nul \0, a half \uD800 and one that is cut in two: ${'😀'.repeat(500)}`
    const answers = [
      { status: 503, body: { error: { message: hostile } } },
      { status: 400, body: { error: hostile } },
      { body: { data: [{ embedding: [hostile] }] } },
      { body: { data: [{ embedding: [{ toString: 1, valueOf: 1 }] }] } },
    ]
    await using running = new RunningSync(db, settingsOf(server), { sync: clock, provider: new HastyClock() })
    for (const [at, answer] of answers.entries()) {
      server.answer = ({ input }) => (input.some((text) => text.includes(`poison ${at}`)) ? answer : undefined)
      await createNote(one, `Bad ${at}`, `poison ${at}`)
      await createNote(other, `Good ${at}`, 'food')
      await running.sync.settled()
      assert.equal((await running.sync.status(one.project)).embeddings, at)
      server.answer = () => undefined
      await clock.advance(HOUR_MS)
      await running.sync.settled()
      for (const { project } of [one, other]) {
        assert.equal((await running.sync.status(project)).embeddings, at + 1)
      }
    }
  })

  test('a project whose texts make the service fail does not hold up the others', async () => {
    const db = await open()
    const one = await openNotes(db, 'one')
    const other = await openWorld(db, one.writer.principal, 'other')
    await using server = await new EmbeddingServer().listen()
    server.answer = ({ input }) => (input.some((text) => text.includes('poison')) ? { status: 429 } : undefined)
    const clock = new FakeClock()
    const clocks = { sync: clock, provider: new HastyClock() }
    await createNote(one, 'Bad', 'poison')
    {
      await using running = new RunningSync(db, settingsOf(server), clocks)
      await assert.rejects(running.sync.caughtUp(one.project.id), /answered 429/)
    }
    await createNote(other, 'Good', 'food')
    await clock.advance(HOUR_MS)
    const before = server.requests.length
    await using running = new RunningSync(db, settingsOf(server), clocks)
    await server.received(before + 1)
    assert.match(server.requests[before]?.input.join() ?? '', /food/)
    await running.stop()
  })

  test('a project that is purged while its notes are embedded leaves nothing behind, and nobody waits for it', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    await using server = await new EmbeddingServer().listen()
    await createNote(world, 'A', 'some text')
    server.answer = async () => {
      const deletion = { pathId: world.projectId, deleteNotes: true }
      const { purge } = await new DeletedProjects(world.deps).delete(world.writer.principal, deletion)
      await purgeProject({ db }, purge)
      return undefined
    }
    await using running = new RunningSync(db, settingsOf(server))
    await running.sync.caughtUp(world.project.id)
    await running.stop()
    for (const table of ['note_vectors', 'note_embeddings', 'project_embeddings'] as const) {
      assert.deepEqual(await db.query.selectFrom(table).selectAll().execute(), [], table)
    }
  })

  test('a stop gives up what takes too long, and the next start embeds it', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    await createNote(world, 'A', 'some text')
    server.answer = () => 'nothing'
    {
      await using running = new RunningSync(world.deps.db, settingsOf(server))
      await server.received(1)
      const stopped = Promise.withResolvers<void>()
      const asked = slowly(world.deps.db, stopped.promise, () => running.sync.caughtUp(world.project.id))
      await running.stop(new WorkerStop(20))
      stopped.resolve()
      await assert.rejects(asked, /stopping/)
      await assert.rejects(running.sync.caughtUp(), /stopping/)
    }
    assert.deepEqual(await storedVectors(world), [])
    server.answer = () => undefined
    await using running = new RunningSync(world.deps.db, settingsOf(server))
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 1)
  })

  test('while a service was never reached the status names it, and every note waits', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    server.answer = () => ({ status: 503, body: {} })
    const settings = { ...settingsOf(server), embedding_dimensions: null }
    const clocks = { sync: new FakeClock(), provider: new FakeClock() }
    await using running = new RunningSync(world.deps.db, settings, clocks)
    const { external_id: noteId } = await createNote(world, 'A', 'some text')
    await createNote(world, 'B', 'other text')
    await assert.rejects(running.sync.caughtUp(world.project.id), /answered 503/)
    const { status, provider, model, dimensions, pending, embeddings } = await running.sync.status(world.project)
    assert.deepEqual(
      { status, provider, model, dimensions, pending, embeddings },
      { status: 'unavailable', provider: 'openai', model: 'small', dimensions: null, pending: 2, embeddings: 0 },
    )
    assert.deepEqual(await shownChunks(running, world, noteId), { isWaiting: true, statuses: ['pending'] })
  })

  test('while a model folder cannot be read the status names it, and every note waits', async () => {
    const world = await openNotes(await open())
    const settings = { embedding_provider: 'folder' as const, embedding_folder: join(tempDir(), 'no-model') }
    await using running = new RunningSync(world.deps.db, settings, { sync: new FakeClock(), provider: new FakeClock() })
    await createNote(world, 'A', 'some text')
    await assert.rejects(running.sync.caughtUp(world.project.id), /holds no model/)
    const { status, provider, model, pending } = await running.sync.status(world.project)
    assert.deepEqual([status, provider, model, pending], ['unavailable', 'folder', 'no-model', 1])
  })

  test('what was embedded before is counted and shown while the service is not reached after a start', async () => {
    const world = await openNotes(await open())
    const { project } = world
    await using server = await new EmbeddingServer().listen()
    const settings = { ...settingsOf(server), embedding_dimensions: null }
    const { external_id: noteId } = await createNote(world, 'A', 'some text')
    {
      await using running = new RunningSync(world.deps.db, settings)
      await running.sync.caughtUp(project.id)
      await running.sync.settled()
    }
    server.answer = () => ({ status: 503, body: {} })
    const { external_id: newId } = await createNote(world, 'B', 'other text')
    const clocks = { sync: new FakeClock(), provider: new FakeClock() }
    const named = async (changed: object) => {
      await using running = new RunningSync(world.deps.db, { ...settings, ...changed }, clocks)
      await assert.rejects(running.sync.caughtUp(project.id), /answered 503/)
      const { status, model, dimensions, pending, embeddings, reindexReason } = await running.sync.status(project)
      assert.deepEqual([status, reindexReason], ['unavailable', null])
      const [old, added] = [await shownChunks(running, world, noteId), await shownChunks(running, world, newId)]
      return { model, dimensions, pending, embeddings, statuses: [...old.statuses, ...added.statuses] }
    }
    assert.deepEqual(await named({}), {
      ...{ model: 'small', dimensions: EMBEDDED_DIMENSIONS, pending: 1, embeddings: 1 },
      statuses: ['ready', 'pending'],
    })
    const unknown = { dimensions: null, pending: 2, embeddings: 0, statuses: ['pending', 'pending'] }
    assert.deepEqual(await named({ embedding_model: 'large' }), { ...unknown, model: 'large' })
    assert.deepEqual(await named({ embedding_document_prefix: 'passage: ' }), { ...unknown, model: 'small' })
  })

  test('a provider that cannot be opened is tried again', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    server.answer = () => ({ status: 503, body: {} })
    const [clock, providerClock] = [new FakeClock(), new FakeClock()]
    const settings = { ...settingsOf(server), embedding_dimensions: null }
    await using running = new RunningSync(world.deps.db, settings, { sync: clock, provider: providerClock })
    await createNote(world, 'A', 'some text')
    await assert.rejects(running.sync.caughtUp(world.project.id), /answered 503/)
    const { status, problem } = await running.sync.status(world.project)
    assert.equal(status, 'unavailable')
    assert.match(problem ?? '', /answered 503/)
    server.answer = () => undefined
    await providerClock.advance(10_000)
    await running.sync.caughtUp(world.project.id)
    assert.equal((await storedVectors(world)).length, 1)
  })
})

/** Time goes on by a millisecond whenever somebody looks at it, and alarms ring a little before their time. */
class EarlyClock extends FakeClock {
  #looks = 0

  override now(): number {
    return super.now() + 1_000 * this.#looks++
  }

  override after(ms: number, callback: () => void): () => void {
    return super.after(Math.max(0, ms - 1.5), callback)
  }
}

/** What is told of the chunks of a note. */
async function shownChunks(running: RunningSync, world: Awaited<ReturnType<typeof openNotes>>, noteId: string) {
  const { db } = world.deps
  const note = await db.query
    .selectFrom('notes')
    .select(['id', 'external_id', 'title', 'permalink', 'file_path'])
    .where('external_id', '=', noteId)
    .executeTakeFirstOrThrow()
  const { is_waiting, chunks } = await inspectChunks(db, running.embeddings, world.project, note)
  return { isWaiting: is_waiting, statuses: chunks.map(({ status }) => status) }
}

/** Waits until a note was tried so often. */
async function attempted(running: RunningSync, world: Awaited<ReturnType<typeof openNotes>>, tries: number) {
  await running.sync.settled()
  const row = await world.deps.db.query.selectFrom('embedding_failures').select('attempts').executeTakeFirst()
  assert.equal(row?.attempts, tries)
}
