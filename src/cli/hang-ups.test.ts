import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { HangUps } from './hang-ups.ts'

test('SIGHUP during the start, which may have read the settings before, reads them again once it is over', async () => {
  const hangUps = new HangUps()
  let reads = 0
  for (let times = 0; times < 3; times++) process.emit('SIGHUP')
  hangUps.onReload(async () => void reads++)
  await nextTurn()
  assert.equal(reads, 1)
  process.emit('SIGHUP')
  await nextTurn()
  assert.equal(reads, 2)
})
