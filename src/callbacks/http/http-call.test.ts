import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../platform/errors/app-error.ts'
import { readDeadline } from './http-call.ts'

test('the time that a caller gives is read from either header, and the shorter one counts', () => {
  for (const [headers, ms] of [
    [{}, null],
    [{ 'grpc-timeout': '2S' }, 2_000],
    [{ 'grpc-timeout': '500m' }, 500],
    [{ 'grpc-timeout': '1M' }, 60_000],
    [{ 'grpc-timeout': '1H' }, 3_600_000],
    [{ 'grpc-timeout': '5000u' }, 5],
    [{ 'grpc-timeout': '99999999n' }, 99.999999],
    [{ 'request-timeout': '2000ms' }, 2_000],
    [{ 'request-timeout': '1.5s' }, 1_500],
    [{ 'request-timeout': '2m', 'grpc-timeout': '1S' }, 1_000],
    [{ 'request-timeout': '10ms', 'grpc-timeout': '1S' }, 10],
  ] as const) {
    assert.equal(readDeadline(headers), ms, JSON.stringify(headers))
  }
})

test('a time that cannot be read is refused instead of ignored', () => {
  for (const text of ['', '2', 'S', '2s', '-1S', '123456789S', '1.5S', '2S ', '2S, 3S']) {
    assert.throws(
      () => readDeadline({ 'grpc-timeout': text }),
      (error) => isAppError(error, 'invalid_argument'),
      text,
    )
  }
  for (const text of ['', '2', 'soon', '-1s', '2S', '1 s', '0.1ms']) {
    const isRefused = (error: unknown) => isAppError(error, 'invalid_argument')
    assert.throws(() => readDeadline({ 'request-timeout': text }), isRefused, text)
  }
})
