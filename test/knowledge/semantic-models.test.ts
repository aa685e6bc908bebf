import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { Embeddings } from '../../src/knowledge/semantic/embeddings.ts'
import { requireModelId } from '../../src/knowledge/semantic/store-models.ts'
import { EmbedThread } from '../../src/knowledge/semantic/thread/embed-thread.ts'
import type { KnowledgeSettings } from '../../src/knowledge/settings.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import { OutboundClient } from '../../src/platform/outbound/outbound-client.ts'
import { eachDatabase } from '../support/each-database.ts'
import { EMBEDDED_DIMENSIONS, EmbeddingServer, settingsOf } from '../support/embedding-server.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { HastyClock } from '../support/hasty-clock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { BUILTIN, createNote, openNotes, RunningSync, storedVectors } from './semantic-world.ts'
import { VectorRows } from './vector-rows.ts'

eachDatabase('another embedding model', ({ open }) => {
  test('the vectors of the old model answer until those of the new one are complete, then they go', async () => {
    const world = await openNotes(await open())
    const { project } = world
    await using server = await new EmbeddingServer().listen()
    {
      await using running = new RunningSync(world.deps.db, settingsOf(server, 'old'))
      for (const title of ['A', 'B', 'C']) await createNote(world, title, `- one of ${title}\n- two of ${title}\n`)
      await running.sync.caughtUp(project.id)
      await running.sync.settled()
    }
    const [old] = await storedVectors(world)

    const down = ({ model }: { model: string }) => (model === 'new' ? { status: 503, body: {} } : undefined)
    server.answer = down
    const clock = new FakeClock()
    const clocks = { sync: clock, provider: new HastyClock() }
    await using running = new RunningSync(world.deps.db, settingsOf(server, 'new', 24), clocks)
    await assert.rejects(running.sync.caughtUp(project.id), /answered 503/)
    const before = await running.embeddings.serving(project.id)
    assert.deepEqual([before.modelId, before.provider.model.name], [old?.modelId, 'old'])
    assert.equal((await before.provider.embed(['question'], 'query'))[0]?.length, EMBEDDED_DIMENSIONS)
    assert.match((await running.sync.status(project)).reindexReason ?? '', /model changed/)
    assert.equal((await storedVectors(world)).length, 6)

    server.answer = () => undefined
    await clock.advance(10_000)
    await running.sync.caughtUp(project.id)
    await running.sync.settled()
    const after = await running.embeddings.serving(project.id)
    assert.notEqual(after.modelId, old?.modelId)
    assert.equal(after.provider.model.name, 'new')
    const stored = await storedVectors(world)
    assert.deepEqual(new Set(stored.map(({ modelId }) => modelId)), new Set([after.modelId]))
    assert.deepEqual(new Set(stored.map(({ vector }) => vector.length)), new Set([24]))
    assert.equal(stored.length, 6)
    const { status, reindexReason } = await running.sync.status(project)
    assert.deepEqual({ status, reindexReason }, { status: 'ready', reindexReason: null })
  })

  test('what a note no longer says is taken from the old vectors at once', async () => {
    const world = await openNotes(await open())
    const { project } = world
    await using server = await new EmbeddingServer().listen()
    const noteIds: string[] = []
    {
      await using running = new RunningSync(world.deps.db, settingsOf(server, 'old'))
      for (const title of ['A', 'B']) {
        noteIds.push((await createNote(world, title, `- one of ${title}\n- two of ${title}\n`)).external_id)
      }
      await running.sync.caughtUp(project.id)
      await running.sync.settled()
    }
    const [old] = await storedVectors(world)
    const [first = '', last = ''] = noteIds
    const edit = (noteId: string, wanted: object) =>
      world.notes.edit(world.writer, { projectId: world.projectId, noteId }, wanted as never, {})
    await edit(first, { operation: 'append', content: `\n${'x'.repeat(110_000)}` })
    await edit(first, { operation: 'find_replace', find_text: 'one of A', content: '3 of A', expected_replacements: 1 })
    await edit(last, { operation: 'append', content: '- three of B' })
    // The first fills a turn alone, and the new model never comes to the second.
    server.answer = ({ input }) => (input.some((one) => one.includes('of B')) ? { status: 503, body: {} } : undefined)
    const clocks = { sync: new FakeClock(), provider: new HastyClock() }
    await using running = new RunningSync(world.deps.db, settingsOf(server, 'new'), clocks)
    await assert.rejects(running.sync.caughtUp(project.id), /answered 503/)
    const stored = await storedVectors(world)
    const ofOld = stored.filter(({ modelId }) => modelId === old?.modelId)
    assert.deepEqual(
      ofOld.map(({ note, key }) => `${note} ${key}`),
      ['A 0:0:1', 'B 0:0:0', 'B 0:0:1'],
    )
    assert.ok(stored.some(({ note, modelId }) => note === 'A' && modelId !== old?.modelId))
    const changed = await world.deps.db.query
      .selectFrom('note_embeddings as n')
      .innerJoin('project_embeddings as p', (join) =>
        join.onRef('p.project_id', '=', 'n.project_id').onRef('p.model_id', '=', 'n.model_id'),
      )
      .select(['n.chunks'])
      .whereRef('n.seq', '=', 'p.change_seq')
      .where('n.model_id', '=', old?.modelId ?? 0)
      .execute()
    assert.deepEqual(
      changed.map(({ chunks }) => chunks),
      [1],
    )
  })

  test('another prefix or input type of texts embeds all notes anew; the vectors before answer until then', async () => {
    const world = await openNotes(await open())
    const { project } = world
    await using server = await new EmbeddingServer().listen()
    const plain = { ...settingsOf(server, 'small'), embedding_dimensions: null }
    for (const title of ['A', 'B']) await createNote(world, title, `text of ${title}`)
    {
      await using running = new RunningSync(world.deps.db, plain)
      await running.sync.caughtUp(project.id)
      await running.sync.settled()
    }
    const known = new Set((await storedVectors(world)).map(({ modelId }) => modelId))
    for (const changed of [
      { embedding_document_prefix: 'passage: ', embedding_query_prefix: 'query: ' },
      { embedding_document_prefix: 'passage: ', embedding_document_input_type: 'passage' },
    ]) {
      const [old] = await storedVectors(world)
      server.answer = ({ input }) => (input.some((one) => one.includes('text of')) ? { status: 503 } : undefined)
      const clock = new FakeClock()
      const clocks = { sync: clock, provider: new HastyClock() }
      await using running = new RunningSync(world.deps.db, { ...plain, ...changed }, clocks)
      await assert.rejects(running.sync.caughtUp(project.id), /answered 503/)
      const before = await running.embeddings.serving(project.id)
      assert.equal(before.modelId, old?.modelId)
      assert.equal((await before.provider.embed(['question'], 'query')).length, 1)
      const { input, dimensions } = server.requests.at(-1) ?? {}
      assert.deepEqual([input, dimensions], [[`${changed.embedding_query_prefix ?? ''}question`], undefined])

      server.answer = () => undefined
      server.requests.length = 0
      await clock.advance(10_000)
      await running.sync.caughtUp(project.id)
      await running.sync.settled()
      const after = await running.embeddings.serving(project.id)
      assert.ok(!known.has(after.modelId))
      known.add(after.modelId)
      assert.deepEqual(
        (await storedVectors(world)).map(({ note, modelId }) => [note, modelId]),
        ['A', 'B'].map((note) => [note, after.modelId]),
      )
      assert.equal(server.texts.length, 2)
      assert.ok(server.texts.every((one) => one.startsWith('passage: ')))
    }
  })

  test('another model with another prefix leaves the vectors before it to answer', async () => {
    const world = await openNotes(await open())
    const { project } = world
    await using server = await new EmbeddingServer().listen()
    await createNote(world, 'A', 'some text')
    {
      const settings = { ...settingsOf(server, 'old'), embedding_document_prefix: 'passage: ' }
      await using running = new RunningSync(world.deps.db, settings)
      await running.sync.caughtUp(project.id)
      await running.sync.settled()
    }
    const [old] = await storedVectors(world)
    server.answer = ({ model }) => (model === 'new' ? { status: 503 } : undefined)
    const clocks = { sync: new FakeClock(), provider: new HastyClock() }
    await using running = new RunningSync(world.deps.db, settingsOf(server, 'new'), clocks)
    await assert.rejects(running.sync.caughtUp(project.id), /answered 503/)
    const { modelId, provider } = await running.embeddings.serving(project.id)
    assert.deepEqual([modelId, provider.model.name], [old?.modelId, 'old'])
  })

  test('a model before this one is asked for its dimensions only where it gives others by itself', async () => {
    const world = await openNotes(await open())
    const { project } = world
    await using server = await new EmbeddingServer().listen()
    await createNote(world, 'A', 'some text')
    for (const dimensions of [EMBEDDED_DIMENSIONS, 24]) {
      server.answer = () => undefined
      const old = { ...settingsOf(server, `old ${dimensions}`), embedding_dimensions: dimensions === 24 ? 24 : null }
      {
        await using running = new RunningSync(world.deps.db, old)
        await running.sync.caughtUp(project.id)
        await running.sync.settled()
      }
      server.answer = ({ model, dimensions: wanted }) =>
        model === 'new' || (wanted !== undefined && dimensions !== 24) ? { status: 400 } : undefined
      const clocks = { sync: new FakeClock(), provider: new HastyClock() }
      await using running = new RunningSync(world.deps.db, settingsOf(server, 'new'), clocks)
      await assert.rejects(running.sync.caughtUp(project.id))
      const { provider } = await running.embeddings.serving(project.id)
      assert.equal(provider.model.name, old.embedding_model)
      assert.equal((await provider.embed(['question'], 'query'))[0]?.length, dimensions)
    }
  })

  test('another prefix or input type of questions holds at once, and no note is embedded anew', async () => {
    const world = await openNotes(await open())
    const { project } = world
    await using server = await new EmbeddingServer().listen()
    await createNote(world, 'A', 'some text')
    const modelIds = new Set<number>()
    for (const changed of [{}, { embedding_query_prefix: 'query: ' }, { embedding_query_input_type: 'query' }]) {
      await using running = new RunningSync(world.deps.db, { ...settingsOf(server, 'small'), ...changed })
      await running.sync.caughtUp(project.id)
      await running.sync.settled()
      const { modelId, provider } = await running.embeddings.serving(project.id)
      modelIds.add(modelId)
      await provider.embed(['question'], 'query')
    }
    assert.equal(modelIds.size, 1)
    assert.deepEqual(
      server.requests.slice(1).map(({ input, input_type }) => [...input, input_type]),
      [
        ['question', undefined],
        ['query: question', undefined],
        ['question', 'query'],
      ],
    )
  })

  test('a model before this one that could not be opened is tried again after a while', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    const { id: projectId } = world.project
    const folder = { provider: 'folder', name: 'gone', version: '1', dimensions: 8 } as const
    const modelId = await requireModelId(db, folder, 0)
    await db.write((tx) =>
      tx.query
        .insertInto('project_embeddings')
        .values({ project_id: projectId, model_id: modelId, completed_at: 1, last_error: null, lease_owner: null })
        .execute(),
    )
    const clock = new FakeClock()
    let failures = 0
    const log = createLogger({ level: 'info', format: 'json', destination: { write: () => void failures++ } })
    await using thread = new EmbedThread({ clock })
    const outbound = new OutboundClient({ clock })
    const settings = { ...BUILTIN, embedding_folder: join(tempDir(), 'gone') } as unknown as KnowledgeSettings
    await using embeddings = new Embeddings({ db, clock, log, settings, thread, outbound })
    for (const expected of [1, 2]) {
      for (let question = 1; question <= 3; question++) {
        const { provider } = await embeddings.serving(projectId)
        assert.equal(provider.model.provider, 'builtin')
      }
      assert.equal(failures, expected)
      await clock.advance(60_000)
    }
    await outbound.close()
  })

  test('the model before a service that cannot be reached answers, until the service has had all notes', async () => {
    const world = await openNotes(await open())
    const { project } = world
    await using server = await new EmbeddingServer().listen()
    await createNote(world, 'A', 'some text')
    {
      await using running = new RunningSync(world.deps.db)
      await running.sync.caughtUp(project.id)
      await running.sync.settled()
    }
    server.answer = () => ({ status: 503 })
    const service = { ...settingsOf(server, 'small'), embedding_dimensions: null }
    {
      const clocks = { sync: new FakeClock(), provider: new FakeClock() }
      await using running = new RunningSync(world.deps.db, service, clocks)
      await assert.rejects(running.sync.caughtUp(project.id), /answered 503/)
      const serves = async () => (await running.embeddings.serving(project.id)).provider.model.provider
      assert.equal(await serves(), 'builtin')
      // It is tried again, and nobody waits for it.
      const patience = Promise.withResolvers<undefined>()
      server.answer = () => patience.promise
      await clocks.provider.advance(5_000)
      assert.equal(await serves(), 'builtin')
      await server.received(2)
      patience.resolve(undefined)
    }
    {
      await using running = new RunningSync(world.deps.db, service)
      await running.sync.caughtUp(project.id)
      await running.sync.settled()
    }
    server.answer = () => ({ status: 503 })
    await using running = new RunningSync(world.deps.db, service, { sync: new FakeClock() })
    await assert.rejects(running.embeddings.serving(project.id), { code: 'unavailable' })
  })

  test('a stop ends the removal of an old model, and the next start goes on with it', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    const { id: projectId } = world.project
    const name = { provider: 'folder', name: 'old', version: '1', dimensions: 1 } as const
    const modelId = await requireModelId(db, name, 0)
    await new VectorRows(db, projectId, modelId).put(
      new Map(Array.from({ length: 1_100 }, (_, at) => [1_000 + at, [new Float32Array([1])]])),
    )
    await db.write((tx) => tx.query.updateTable('project_embeddings').set({ completed_at: 1 }).execute())
    await createNote(world, 'A', 'some text')
    const write = db.write
    const removed = Promise.withResolvers<void>()
    {
      await using running = new RunningSync(db)
      db.write = async (...parameters) => {
        const answer = await write.apply(db, parameters as never)
        if (answer === 500) removed.resolve(running.stop())
        return answer as never
      }
      await removed.promise
    }
    db.write = write
    const left = async () => (await storedVectors(world)).filter((row) => row.modelId === modelId).length
    assert.equal(await left(), 600)
    await using running = new RunningSync(db)
    await running.sync.settled()
    assert.equal(await left(), 0)
    const models = await db.query.selectFrom('project_embeddings').select('model_id').execute()
    assert.deepEqual(
      models.map(({ model_id }) => model_id),
      [await running.embeddings.modelId()],
    )
  })

  test('a model that is set again while its vectors were being removed gets back those that are gone', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    await using server = await new EmbeddingServer().listen()
    const old = { ...settingsOf(server, 'old'), embedding_batch_size: 1_000 }
    const bullets = Array.from({ length: 300 }, (_, at) => `- bullet ${at}\n`).join('')
    for (const title of ['A', 'B']) await createNote(world, title, bullets)
    {
      await using running = new RunningSync(db, old)
      await running.sync.caughtUp(world.project.id)
      await running.sync.settled()
    }
    const before = await storedVectors(world)
    const write = db.write
    const removed = Promise.withResolvers<void>()
    {
      await using running = new RunningSync(db, { ...settingsOf(server, 'new'), embedding_batch_size: 1_000 })
      db.write = async (...parameters) => {
        const answer = await write.apply(db, parameters as never)
        if (answer === 500) removed.resolve(running.stop())
        return answer as never
      }
      await removed.promise
    }
    db.write = write
    await using running = new RunningSync(db, old)
    await running.sync.settled()
    const after = (await storedVectors(world)).filter(({ modelId }) => modelId === before[0]?.modelId)
    const placesOf = (rows: typeof before) => new Set(rows.map(({ note, key }) => `${note} ${key}`))
    assert.deepEqual(placesOf(after), placesOf(before))
  })

  test('the built-in model takes over from a service, and the other way round', async () => {
    const world = await openNotes(await open())
    await using server = await new EmbeddingServer().listen()
    await createNote(world, 'A', 'some text')
    for (const settings of [{}, settingsOf(server, 'small'), {}]) {
      await using running = new RunningSync(world.deps.db, settings)
      await running.sync.caughtUp(world.project.id)
      await running.sync.settled()
      const { modelId, provider } = await running.embeddings.serving(world.project.id)
      assert.deepEqual(
        (await storedVectors(world)).map((row) => [row.modelId, row.vector.length]),
        [[modelId, provider.model.dimensions]],
      )
    }
  })
})
