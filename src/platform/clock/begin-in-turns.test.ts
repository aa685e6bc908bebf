import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beginInTurns } from './begin-in-turns.ts'

test('only so many begin in a turn, in the order in which they came, and those that have gone take no place', async () => {
  const begun: number[] = []
  const begin = beginInTurns(3)
  for (let n = 0; n < 10; n++) begin({ isGone: () => n % 5 === 1, begin: () => void begun.push(n) })
  assert.equal(begun.length, 0)
  await nextTurn()
  assert.deepEqual(begun, [0, 2, 3])
  begin({ isGone: () => false, begin: () => void begun.push(10) })
  await nextTurn()
  assert.deepEqual(begun, [0, 2, 3, 4, 5, 7])
  await nextTurn()
  assert.deepEqual(begun, [0, 2, 3, 4, 5, 7, 8, 9, 10])
  begin({ isGone: () => false, begin: () => void begun.push(11) })
  await nextTurn()
  assert.deepEqual(begun.at(-1), 11)
})
