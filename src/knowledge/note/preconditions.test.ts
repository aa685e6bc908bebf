import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../platform/errors/app-error.ts'
import type { ErrorCode } from '../../platform/errors/codes.ts'
import type { Note } from './note.ts'
import { checkPreconditions, type Preconditions, preconditionsOf } from './preconditions.ts'

const note = { checksum: 'abc' } as Note

function refuses(code: ErrorCode, of: Note | undefined, preconditions: Preconditions): unknown {
  try {
    checkPreconditions(of, preconditions)
  } catch (error) {
    assert.ok(isAppError(error, code), String(error))
    return error.details?.[0]
  }
  return assert.fail(`passed ${JSON.stringify(preconditions)}`)
}

test('a note that is as the caller believes may be changed', () => {
  for (const preconditions of [
    {},
    { ifMatch: '"abc"' },
    { ifMatch: '*' },
    { ifNoneMatch: '"old"' },
    { baseChecksum: 'abc' },
    { ifMatch: '"abc"', ifNoneMatch: '"old"', baseChecksum: 'abc' },
  ]) {
    checkPreconditions(note, preconditions)
  }
  checkPreconditions(undefined, {})
  checkPreconditions(undefined, { ifNoneMatch: '*' })
})

test('a note that is another by now, gone, or there already is not', () => {
  for (const ifMatch of ['"old"', 'W/"abc"', 'abc']) refuses('precondition_failed', note, { ifMatch })
  for (const ifMatch of ['"abc"', '*']) refuses('precondition_failed', undefined, { ifMatch })
  for (const ifNoneMatch of ['*', '"abc"', 'W/"abc"']) refuses('precondition_failed', note, { ifNoneMatch })
  refuses('invalid_argument', undefined, { ifNoneMatch: 'abc' })
})

test('a checksum that is no longer that of the note is answered with the one it has', () => {
  assert.deepEqual(refuses('conflict', note, { baseChecksum: 'old' }), { db_checksum: 'abc' })
  assert.deepEqual(refuses('conflict', undefined, { baseChecksum: 'abc' }), { db_checksum: null })
})

test('what a caller knew is read out of its headers', () => {
  const headers = { 'if-match': '"a"', 'if-none-match': '*', 'x-bm-cloud-note-base-checksum': ['b', 'c'] }
  assert.deepEqual(preconditionsOf(headers), { ifMatch: '"a"', ifNoneMatch: '*', baseChecksum: 'b' })
})
