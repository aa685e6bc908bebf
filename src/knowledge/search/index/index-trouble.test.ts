import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../../test/support/fake-clock.ts'
import { silentLogger } from '../../../../test/support/silent-logger.ts'
import { IndexTrouble } from './index-trouble.ts'

function sqliteError(errcode: number): Error {
  return Object.assign(new Error('as SQLite words it'), { code: 'ERR_SQLITE_ERROR', errcode })
}

test('an index is made anew for damage, more and more seldom where that of the database may be meant', async () => {
  const clock = new FakeClock()
  const trouble = new IndexTrouble({ clock, log: silentLogger() })
  const unsure = sqliteError(11)
  assert.equal(trouble.isWorthAnother(unsure), true)
  await clock.advance(59_000)
  assert.equal(trouble.isWorthAnother(unsure), false)
  await clock.advance(1_000)
  assert.equal(trouble.isWorthAnother(unsure), true)
  await clock.advance(60_000)
  assert.equal(trouble.isWorthAnother(unsure), false)
  // Its own damage, as it tells it itself.
  assert.equal(trouble.isWorthAnother(sqliteError(267)), true)
  await clock.advance(30_000)
  assert.equal(trouble.isWorthAnother(sqliteError(267)), true)
  await clock.advance(3_600_001)
  assert.equal(trouble.isWorthAnother(unsure), true)
  await clock.advance(60_000)
  assert.equal(trouble.isWorthAnother(unsure), true)
})
