import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAppError } from '../../platform/errors/app-error.ts'
import { newId } from '../../platform/ids/uuid.ts'
import { hasChangedSince, Tokens } from './tokens.ts'

const tokens = new Tokens(Buffer.alloc(32, 1))
const RUN = { namespace: 'default', callbackId: 'order-42', runId: newId() }
const LIST = { namespace: 'default', query: 'ExecutionStatus = "Failed"' }
const POSITION = { sortAt: 9_007_199_254_740_991, createdAt: 1_769_860_800_000_001, runId: newId() as string }

function assertRefused(read: () => unknown, name: string): void {
  assert.throws(read, (error) => isAppError(error, 'invalid_argument') && error.message.startsWith(name))
}

test('a token gives back what it was made for', () => {
  assert.equal(tokens.readLongPollToken(tokens.longPollToken(RUN, 7), RUN), 7)
  assert.deepEqual(tokens.readListToken(tokens.listToken(LIST, POSITION), LIST), POSITION)
  assert.equal(tokens.readAttemptToken(tokens.attemptToken(RUN, 3), RUN), 3)
})

test('no token is the first page', () => {
  assert.equal(tokens.readListToken(new Uint8Array(), LIST), null)
  assert.equal(tokens.readAttemptToken(new Uint8Array(), RUN), null)
})

test('a token of another execution, list or kind is refused', () => {
  const token = tokens.longPollToken(RUN, 7)
  for (const other of [{ namespace: 'other' }, { callbackId: 'order-43' }, { runId: newId() }]) {
    assertRefused(() => tokens.readLongPollToken(token, { ...RUN, ...other }), 'long_poll_token')
  }
  const page = tokens.listToken(LIST, POSITION)
  for (const other of [{ namespace: 'other' }, { query: '' }]) {
    assertRefused(() => tokens.readListToken(page, { ...LIST, ...other }), 'next_page_token')
  }
  assertRefused(() => tokens.readLongPollToken(page, RUN), 'long_poll_token')
  assertRefused(() => tokens.readLongPollToken(tokens.attemptToken(RUN, 7), RUN), 'long_poll_token')
  assertRefused(() => tokens.readAttemptToken(token, RUN), 'next_page_token')
})

test('names that run into each other make different tokens', () => {
  const token = tokens.longPollToken({ ...RUN, namespace: 'a', callbackId: 'bc' }, 1)
  assertRefused(() => tokens.readLongPollToken(token, { ...RUN, namespace: 'ab', callbackId: 'c' }), 'long_poll_token')
})

test('a token of a server with another key is refused', () => {
  const other = new Tokens(Buffer.alloc(32, 2))
  assertRefused(() => tokens.readLongPollToken(other.longPollToken(RUN, 7), RUN), 'long_poll_token')
})

test('a changed or cut token is refused', () => {
  const list = tokens.listToken(LIST, POSITION)
  const longPoll = tokens.longPollToken(RUN, 7)
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const spoiled = Uint8Array.from(list)
      spoiled[at % list.length] = (spoiled[at % list.length] as number) ^ change
      assertRefused(() => tokens.readListToken(spoiled, LIST), 'next_page_token')
      assertRefused(() => tokens.readListToken(list.subarray(0, 1 + (at % (list.length - 1))), LIST), 'next_page_token')
      assertRefused(() => tokens.readLongPollToken(longPoll.subarray(0, at % longPoll.length), RUN), 'long_poll_token')
    }),
  )
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (noise) => {
      assertRefused(() => tokens.readListToken(noise, LIST), 'next_page_token')
    }),
  )
})

test('a token needs no padding as base64', () => {
  for (const token of [tokens.longPollToken(RUN, 7), tokens.listToken(LIST, POSITION), tokens.attemptToken(RUN, 3)]) {
    assert.ok(!Buffer.from(token).toString('base64').includes('='))
  }
})

test('a count from before and one from the future are changes, the same one is none', () => {
  assert.equal(hasChangedSince(3, 4), true)
  assert.equal(hasChangedSince(4, 4), false)
  assert.equal(hasChangedSince(5, 4), true)
})
