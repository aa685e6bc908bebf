import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clampDeadline } from './clamp-deadline.ts'

function clamped(name: string, value: string): string | null {
  const header = new Headers({ [name]: value })
  clampDeadline(header)
  return header.get(name)
}

test('deadlines that a timer can hold stay as they are', () => {
  for (const value of ['0n', '1H', '99999999m', '2147483S', '596H']) assert.equal(clamped('grpc-timeout', value), value)
  for (const value of ['0', '1', '2147483647']) assert.equal(clamped('connect-timeout-ms', value), value)
})

test('longer ones become the longest', () => {
  for (const value of ['2147484S', '597H', '99999999H', '99999999M'])
    assert.equal(clamped('grpc-timeout', value), '2147483S')
  assert.equal(clamped('connect-timeout-ms', '9999999999'), '2147483647')
})

test('what is no deadline is left for the protocol to refuse', () => {
  for (const value of ['', 'soon', '-1S', '1e9S', '123456789S']) assert.equal(clamped('grpc-timeout', value), value)
  for (const value of ['', 'soon', '-1', '12345678901']) assert.equal(clamped('connect-timeout-ms', value), value)
})
