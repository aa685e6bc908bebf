import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MICROS_PER_MS } from '../../platform/clock/clock.ts'
import { Months } from './months.ts'

const micros = (text: string) => Date.parse(text) * MICROS_PER_MS

test('the last twelve months are counted, oldest first, and what lies outside is left out', () => {
  const months = new Months(micros('2030-03-31T23:59:59Z'))
  const one = { notes: 1, observations: 2, relations: 3 }
  for (const at of ['2030-03-01T00:00:00Z', '2030-03-31T23:59:59Z', '2029-04-01T00:00:00Z', '2029-03-31T23:59:59Z']) {
    months.add(micros(at), one)
  }
  months.add(Number.MAX_SAFE_INTEGER, one)
  months.add(-(2 ** 62), one)
  const entries = months.entries()
  assert.deepEqual([entries.length, entries[0]?.[0], entries.at(-1)?.[0]], [12, '2029-04', '2030-03'])
  assert.deepEqual(entries[0]?.[1], one)
  assert.deepEqual(entries.at(-1)?.[1], { notes: 2, observations: 4, relations: 6 })
  assert.equal(entries.filter(([, { notes }]) => notes > 0).length, 2)
})
