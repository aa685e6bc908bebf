import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachDatabase } from '../support/each-database.ts'
import { EmbeddingServer, settingsOf } from '../support/embedding-server.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openWorld } from './notes-world.ts'
import { createNote, openNotes, RunningSync, storedVectors } from './semantic-world.ts'

const TEN_MINUTES_MS = 600_000

eachDatabase('processes with different embedding models', ({ open, openAgain }) => {
  test('do not embed all notes in turn: the one that is done last answers for both', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    const { id } = world.project
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    const modelsOf = () => new Set(server.requests.splice(0).map(({ model }) => model))
    for (const title of ['A', 'B']) await createNote(world, title, `text of ${title}`)
    await using old = new RunningSync(db, settingsOf(server, 'old'), { sync: clock })
    await old.sync.caughtUp(id)
    await old.sync.settled()
    assert.equal((await old.embeddings.serving(id)).provider.model.name, 'old')
    {
      const beside = { sync: clock, isServer: false }
      await using other = new RunningSync(await openAgain(db), settingsOf(server, 'new'), beside)
      await other.sync.caughtUp(id)
      await other.sync.settled()
      modelsOf()
      await createNote(world, 'C', 'text of C')
      await old.sync.settled()
      await other.sync.caughtUp(id)
      assert.deepEqual(modelsOf(), new Set(['new']))
      const { modelId, provider } = await old.embeddings.serving(id)
      assert.equal(provider.model.name, 'new')
      const stored = await storedVectors(world)
      assert.deepEqual([stored.length, new Set(stored.map((row) => row.modelId))], [3, new Set([modelId])])
    }
    modelsOf()
    await clock.advance(TEN_MINUTES_MS)
    await old.sync.caughtUp(id)
    await old.sync.settled()
    assert.deepEqual(modelsOf(), new Set(['old']))
    assert.equal((await old.embeddings.serving(id)).provider.model.name, 'old')
    assert.equal((await storedVectors(world)).length, 3)
  })

  test('leave a project to the one that is done last also where another one with the same model was before it', async () => {
    const db = await open()
    const { writer } = await openNotes(db, 'one')
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    await using old = new RunningSync(db, settingsOf(server, 'old'), { sync: clock })
    await old.sync.settled()
    const second = await openAgain(db)
    const world = await openWorld(second, writer.principal, 'two')
    const { id } = world.project
    await createNote(world, 'A', 'text of A')
    const beside = { sync: clock, isServer: false }
    {
      await using same = new RunningSync(second, settingsOf(server, 'old'), beside)
      await same.sync.caughtUp(id)
      await same.sync.settled()
    }
    await old.sync.settled()
    await using other = new RunningSync(second, settingsOf(server, 'new'), beside)
    await other.sync.caughtUp(id)
    await other.sync.settled()
    assert.deepEqual([server.requests.shift()?.model, server.requests.shift()?.model], ['old', 'new'])
    await old.sync.settled()
    assert.deepEqual(server.requests, [])
    assert.equal((await old.embeddings.serving(id)).provider.model.name, 'new')
  })

  test('leave what another one is still filling', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    const { id } = world.project
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    await createNote(world, 'A', 'text of A')
    await using old = new RunningSync(db, settingsOf(server, 'old'), { sync: clock })
    await old.sync.caughtUp(id)
    await old.sync.settled()
    const patience = Promise.withResolvers<undefined>()
    server.answer = ({ model }) => (model === 'new' ? patience.promise : undefined)
    const asked = server.requests.length
    const beside = { sync: clock, isServer: false }
    await using other = new RunningSync(await openAgain(db), settingsOf(server, 'new'), beside)
    await server.received(asked + 1)
    await createNote(world, 'B', 'text of B')
    await old.sync.caughtUp(id)
    await old.sync.settled()
    const models = await db.query.selectFrom('project_embeddings').select('model_id').execute()
    assert.equal(models.length, 2)
    patience.resolve(undefined)
    await other.sync.caughtUp(id)
  })
})
