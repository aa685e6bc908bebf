import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { accountNameOf, numberedName } from './account-name.ts'

test('the name of an account is the local part of the handle, in lower case, with `_` for other characters', () => {
  for (const [handle, name] of [
    ['ada@example.org', 'ada'],
    ['Ada.B-c_d@example.org', 'ada.b-c_d'],
    ['ada+notes@example.org', 'ada_notes'],
    ['grüße🗒@example.org', 'gr__e_'],
    ['ada', 'ada'],
    ['@example.org', '_'],
    ['', '_'],
  ] as const) {
    assert.equal(accountNameOf(handle), name)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (handle) => assert.match(accountNameOf(handle), /^[a-z0-9_.-]+$/)),
  )
  assert.deepEqual(
    [1, 2, 3].map((number) => numberedName('ada', number)),
    ['ada', 'ada-2', 'ada-3'],
  )
})
