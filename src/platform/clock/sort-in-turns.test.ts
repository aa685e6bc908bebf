import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sortInTurns } from './sort-in-turns.ts'

const byFirstLetter = (a: string, b: string) => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0)

test('texts are in the order in which sort has them, however many are sorted at once', async () => {
  const texts = fc.array(fc.string({ maxLength: 4 }), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 45 }), async (given, atOnce) => {
      assert.deepEqual(await sortInTurns(given, byFirstLetter, atOnce), given.toSorted(byFirstLetter))
    }),
  )
})

test('however many there are, few are compared before others have their turn', async () => {
  const items = Array.from({ length: 1_000 }, (_, index) => (index * 7_919) % 1_009)
  let compared = 0
  let most = 0
  let watching = setImmediate(function watch() {
    compared = 0
    watching = setImmediate(watch)
  })
  const sorted = await sortInTurns(
    items,
    (a, b) => {
      most = Math.max(most, ++compared)
      return a - b
    },
    10,
  )
  clearImmediate(watching)
  assert.deepEqual(
    sorted,
    items.toSorted((a, b) => a - b),
  )
  assert.ok(most <= 100, `${most}`)
})
