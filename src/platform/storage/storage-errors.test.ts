import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../errors/app-error.ts'
import { toStorageError } from './storage-errors.ts'

function postgresError(code: string): Error {
  return Object.assign(new Error('as the server words it'), { code })
}

test('a server that cannot be used for now is unavailable, whatever the reason it gives', () => {
  // Shutting down, starting up, out of memory, too many connections, read only, silent for too long, wrong password, not let in,
  // database renamed, a statement stopped by an operator or by a limit, a right that the role lacks.
  for (const code of [
    '57P01',
    '57P03',
    '53200',
    '53300',
    '25006',
    '25P03',
    '28P01',
    '28000',
    '3D000',
    '08006',
    '57014',
    '55P03',
    '42501',
  ]) {
    assert.ok(isAppError(toStorageError(postgresError(code)), 'unavailable'), code)
  }
})

test('certificates that expired or are not known are an outage, too', () => {
  for (const code of ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID']) {
    assert.ok(isAppError(toStorageError(postgresError(code)), 'unavailable'), code)
  }
  assert.ok(isAppError(toStorageError(new Error('The server does not support SSL connections')), 'unavailable'))
})

test('a defect of ours and a duplicate pass as they are', () => {
  for (const code of ['42601', '23505', '22P02']) {
    const error = postgresError(code)
    assert.equal(toStorageError(error), error)
  }
})
