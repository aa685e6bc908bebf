import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { Bell } from './bell.ts'

const NEVER = new AbortController().signal

test('a bell rings at the earliest of its times, once', async () => {
  const clock = new FakeClock()
  const bell = new Bell(clock)
  bell.ringIn(5_000)
  bell.ringIn(1_000)
  bell.ringIn(3_000)
  const rung = bell.rings(NEVER)
  await clock.advance(1_000)
  await rung
})

test('a bell that was stopped can be set again, also to a later time', async () => {
  const clock = new FakeClock()
  const bell = new Bell(clock)
  bell.ringIn(1_000)
  bell.stop()
  bell.ringIn(5_000)
  let isRung = false
  const rung = bell.rings(NEVER).then(() => {
    isRung = true
  })
  await clock.advance(4_000)
  assert.equal(isRung, false)
  await clock.advance(1_000)
  await rung
})
