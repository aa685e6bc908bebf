import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { createNote, openNotes, RunningSync } from './semantic-world.ts'

const REST_MS = 2_000

eachDatabase('a reindex', ({ open }) => {
  test('that is asked for between the last notes and the end of the project is not forgotten', async () => {
    const world = await openNotes(await open())
    const clock = new FakeClock()
    await createNote(world, 'A', 'some text')
    // The round is over when it has rested, before it has found that nothing is left.
    await using running = new RunningSync(world.deps.db, {}, { sync: clock, restMs: () => REST_MS })
    await running.sync.caughtUp(world.project.id)
    await clock.untilSet(REST_MS)
    await running.sync.reindex(world.project)
    const again = running.sync.caughtUp(world.project.id)
    await clock.advance(REST_MS)
    await again
    assert.equal(running.planned.length, 2)
  })
})
