import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../errors/app-error.ts'
import { diskTrouble, isSqliteCorruption, toStorageError } from './storage-errors.ts'

function postgresError(code: string): Error {
  return Object.assign(new Error('as the server words it'), { code })
}

function sqliteError(errcode: number, message = 'as SQLite words it'): Error {
  return Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode })
}

test('a full disk is told apart from files that cannot be used, and both from everything else', () => {
  for (const full of [sqliteError(13), sqliteError(4874), postgresError('ENOSPC'), postgresError('EDQUOT')]) {
    assert.equal(diskTrouble(full), 'full')
  }
  for (const failed of [sqliteError(10), sqliteError(1032), sqliteError(14), postgresError('EROFS')]) {
    assert.equal(diskTrouble(failed), 'failed')
  }
  for (const other of [sqliteError(1), sqliteError(11), postgresError('23505'), new Error('defect'), undefined]) {
    assert.equal(diskTrouble(other), undefined)
  }
})

test('a statement that is wrong is no sign of a damaged file, one that lacks its table is', () => {
  assert.ok(isSqliteCorruption(sqliteError(1, 'no such table: note_search')))
  assert.ok(isSqliteCorruption(sqliteError(267)))
  assert.ok(isSqliteCorruption(sqliteError(26)))
  assert.equal(isSqliteCorruption(sqliteError(1, 'fts5: syntax error near "x"')), false)
  assert.equal(isSqliteCorruption(sqliteError(13)), false)
})

test('a disk that is too full for the memory beside the log is called full', () => {
  assert.match(String(toStorageError(sqliteError(4874))), /The disk that holds the data directory is full/)
  assert.match(String(toStorageError(sqliteError(778))), /cannot be written/)
})

test('what may be a disk that fails is not blamed on the file alone', () => {
  assert.match(String(toStorageError(sqliteError(11))), /damaged, or its disk fails: look at the log of the system/)
})

test('too many open files are named, where a file cannot be opened', () => {
  assert.match(String(toStorageError(sqliteError(14))), /cannot be opened: .*how many files .*ulimit -n/)
})

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

test('a server to which no connection can be opened for now is away, also when this process has too many files open', () => {
  for (const code of ['ECONNREFUSED', 'EHOSTDOWN', 'ENETDOWN', 'EMFILE', 'ENFILE', 'ENOBUFS', 'EAGAIN']) {
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
