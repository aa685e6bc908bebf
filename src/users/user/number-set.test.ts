import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NumberSet } from './number-set.ts'

const number = fc.integer({ min: 1, max: 20_000 })

test('it holds what a plain set would, be they few or many', () => {
  const changes = fc.array(fc.record({ add: fc.boolean(), number }), { maxLength: 200 })
  fc.assert(
    fc.property(fc.constantFrom(0, 3_990, 9_000), changes, (start, asked) => {
      const [set, model] = [new NumberSet(), new Set<number>()]
      for (let each = 1; each <= start; each++) {
        set.add(each * 2)
        model.add(each * 2)
      }
      for (const { add, number } of asked) {
        if (add) set.add(number)
        else set.delete(number)
        if (add) model.add(number)
        else model.delete(number)
        assert.equal(set.has(number), model.has(number))
      }
      assert.equal(set.size, model.size)
      assert.deepEqual(
        set.values().sort((a, b) => a - b),
        [...model].sort((a, b) => a - b),
      )
    }),
    { numRuns: 30 },
  )
})

test('a million take less than two hundred thousand bytes', () => {
  const set = new NumberSet()
  for (let number = 1; number <= 1_000_000; number++) set.add(number)
  assert.ok(set.bytes < 200_000, `${set.bytes}`)
})
