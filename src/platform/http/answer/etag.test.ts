import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../errors/app-error.ts'
import type { ErrorCode } from '../../errors/codes.ts'
import { matchesNone, requireMatch, requireTag, weakETag } from './etag.ts'

function refuses(code: ErrorCode, words: RegExp, act: () => void): void {
  assert.throws(act, (error) => isAppError(error, code) && words.test(error.message))
}

test('If-Match passes where it is absent, names the current version or takes any', () => {
  for (const header of [undefined, '*', ' * ', '"a"', '"x", "a"', '"x","a" ']) requireMatch(header, '"a"', 'strong')
  requireMatch(undefined, null)
  for (const header of ['W/"a"', '"a"', 'w/"a"']) requireMatch(header, 'W/"a"')
  requireMatch('W/"a"', '"a"')
})

test('If-Match is refused where it names another version, or there is none', () => {
  for (const comparison of ['weak', 'strong'] as const) {
    for (const header of ['"b"', '"A"', '"aa"', '""']) {
      refuses('precondition_failed', /current version/, () => requireMatch(header, '"a"', comparison))
    }
    for (const header of ['*', '"a"']) {
      refuses('precondition_failed', /current version/, () => requireMatch(header, null, comparison))
    }
    refuses('precondition_failed', /has no tag/, () => requireMatch('a', '"a"', comparison))
  }
})

test('a weak tag names no version where bytes count, and whoever has it from a proxy is told', () => {
  for (const header of ['W/"a"', 'w/"a"', '"x", W/"a"']) {
    refuses('precondition_failed', /without W\//, () => requireMatch(header, '"a"', 'strong'))
  }
  refuses('precondition_failed', /without W\//, () => requireMatch('W/"a"', 'W/"a"', 'strong'))
  refuses('precondition_failed', /current version/, () => requireMatch('W/"b"', '"a"', 'strong'))
})

test('If-None-Match finds the version among others, weak or not, and any by a star', () => {
  for (const header of ['"a"', 'W/"a"', '"x", W/"a"', '*', ' * ']) {
    assert.equal(matchesNone(header, '"a"'), true, header)
    assert.equal(matchesNone(header, 'W/"a"'), true, header)
  }
  for (const header of [undefined, '"b"', 'a', '']) assert.equal(matchesNone(header, '"a"'), false, header)
})

test('If-None-Match of a change has to have a tag', () => {
  for (const header of [undefined, '*', '"a"', 'W/"a"']) requireTag(header)
  for (const header of ['', 'a']) refuses('invalid_argument', /has no tag/, () => requireTag(header))
})

test('a weak tag is the same for the same body alone', () => {
  assert.match(weakETag('a'), /^W\/"[\w-]+"$/)
  assert.equal(weakETag('a'), weakETag(Buffer.from('a')))
  assert.notEqual(weakETag('a'), weakETag('b'))
})
