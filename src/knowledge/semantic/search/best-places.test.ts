import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BestPlaces } from './best-places.ts'

test('the places with the highest scores are kept, as many as asked for', () => {
  const scores = fc.uniqueArray(fc.double({ noNaN: true, noDefaultInfinity: true }), {
    maxLength: 200,
    comparator: (a, b) => a === b,
  })
  fc.assert(
    fc.property(scores, fc.integer({ min: 0, max: 50 }), (given, most) => {
      const best = new BestPlaces(most)
      for (const [place, score] of given.entries()) best.add(place, score)
      const expected = [...given.entries()].sort(([, one], [, other]) => other - one).slice(0, most)
      assert.deepEqual(
        best.places().sort((one, other) => one - other),
        expected.map(([place]) => place).sort((one, other) => one - other),
      )
      assert.equal(best.least, given.length < most || most === 0 ? best.least : expected.at(-1)?.[1])
    }),
  )
})

test('what is no number is never kept', () => {
  const best = new BestPlaces(2)
  best.add(1, Number.NaN)
  assert.deepEqual(best.places(), [])
})
