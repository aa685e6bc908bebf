import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastChange } from '../../src/knowledge/history/store-changes.ts'
import { claimProject, restartProject } from '../../src/knowledge/semantic/sync/store-sync.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { EmbeddingServer, settingsOf } from '../support/embedding-server.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { createNote, openNotes, RunningSync, storedVectors } from './semantic-world.ts'

const LEASE_MS = 60_000
const RENEWAL_MS = 20_000

eachDatabase('a project is embedded by one process', ({ open, openAgain }) => {
  test('which keeps it for as long as a turn takes, also when a renewal fails', async () => {
    const db = await open()
    const world = await openNotes(db)
    await createNote(world, 'Slow', 'some text')
    await using server = await new EmbeddingServer().listen()
    const patience = Promise.withResolvers<undefined>()
    server.answer = () => patience.promise
    const clock = new FakeClock()
    await using one = new RunningSync(db, settingsOf(server), { sync: clock })
    await server.received(1)
    await using other = new RunningSync(await openAgain(db), settingsOf(server), { sync: clock, isServer: false })
    for (let renewals = 1; renewals <= 12; renewals++) {
      const tried = nextWrite(db, { fails: renewals % 3 === 2 })
      await clock.advance(RENEWAL_MS)
      await tried
      await other.sync.settled()
    }
    patience.resolve(undefined)
    await one.sync.caughtUp(world.project.id)
    await other.sync.caughtUp(world.project.id)
    assert.deepEqual([one.planned.length, other.planned.length, server.requests.length], [1, 0, 1])
    assert.equal((await storedVectors(world)).length, 1)
  })

  test('which loses it a minute after its death, and gives up its work where it only slept', async () => {
    const db = await open()
    const world = await openNotes(db)
    await createNote(world, 'Slow', 'some text')
    await using server = await new EmbeddingServer().listen()
    server.answer = () => (server.requests.length === 1 ? 'nothing' : undefined)
    const [sleeping, clock] = [new FakeClock(), new FakeClock()]
    await using one = new RunningSync(db, settingsOf(server), { sync: sleeping })
    await server.received(1)
    await using other = new RunningSync(await openAgain(db), settingsOf(server), { sync: clock, isServer: false })
    await clock.advance(LEASE_MS - 1_000)
    await other.sync.settled()
    assert.equal(other.planned.length, 0)
    await clock.advance(2_000)
    await other.sync.caughtUp(world.project.id)
    assert.equal(other.planned.length, 1)
    const noticed = one.sync.caughtUp(world.project.id)
    await sleeping.advance(RENEWAL_MS)
    await noticed
    assert.deepEqual([one.planned.length, server.requests.length], [1, 2])
    assert.equal((await storedVectors(world)).length, 1)
  })

  test('and by the server once a command that had it was killed, though nothing else changes', async () => {
    const db = await open()
    const world = await openNotes(db)
    await createNote(world, 'A', 'some text')
    await using server = await new EmbeddingServer().listen()
    const clock = new FakeClock()
    await using running = new RunningSync(db, settingsOf(server), { sync: clock })
    await running.sync.caughtUp(world.project.id)
    await running.sync.settled()
    assert.equal(server.requests.length, 1)
    const key = { projectId: world.project.id, modelId: await running.embeddings.modelId() }
    const command = await openAgain(db)
    await command.write(async (tx) => {
      await restartProject(tx, key.projectId, await lastChange(tx, key.projectId))
      await claimProject(tx, key, { owner: 'killed', now: clock.now(), until: clock.now() })
    })
    await clock.advance(2_000)
    await server.received(2)
  })
})

/** Resolves when the next change was made, or failed as it was told to. */
function nextWrite(db: Database, { fails }: { fails: boolean }): Promise<void> {
  const write = db.write
  const { promise, resolve } = Promise.withResolvers<void>()
  db.write = (...parameters) => {
    db.write = write
    const answer = fails ? Promise.reject(new Error('storage is away')) : write.apply(db, parameters as never)
    void answer.then(
      () => resolve(),
      () => resolve(),
    )
    return answer as never
  }
  return promise
}
