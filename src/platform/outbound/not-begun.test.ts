import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNotBegun, NotBegun } from './not-begun.ts'

test('what no socket could be opened for was not begun, whatever it is wrapped in', () => {
  const withCode = (code: string) => Object.assign(new Error('connect'), { code })
  for (const error of [
    new NotBegun(undefined),
    withCode('EMFILE'),
    new Error('fetch failed', { cause: withCode('ENFILE') }),
    // As it comes from another thread.
    Object.assign(new Error('no request can be sent'), { name: 'NotBegun' }),
    new AggregateError([withCode('ECONNREFUSED'), withCode('EMFILE')]),
  ]) {
    assert.equal(isNotBegun(error), true)
  }
  const circle = new Error('circle')
  circle.cause = circle
  for (const error of [undefined, new Error('no answer'), withCode('ECONNREFUSED'), withCode('ENOBUFS'), circle]) {
    assert.equal(isNotBegun(error), false)
  }
})
