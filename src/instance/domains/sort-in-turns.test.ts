import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sortInTurns } from './sort-in-turns.ts'

test('names are in the order in which sort has them, however many are sorted at once', async () => {
  const names = fc.array(fc.string({ maxLength: 4 }), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(names, fc.integer({ min: 1, max: 45 }), async (given, atOnce) => {
      assert.deepEqual(await sortInTurns(given, atOnce), given.toSorted())
    }),
  )
})
