import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Cipher } from './cipher.ts'
import { parseEncryptionKey } from './open-cipher.ts'

const KEY = randomBytes(32)
const cipher = new Cipher(KEY)
const PLAIN = Buffer.from('a secret')

describe('encryption of stored secrets', () => {
  test('what was encrypted can be read again, for its own place only', () => {
    const text = cipher.encrypt(PLAIN, 'user_totp 1')
    assert.match(text, /^v1\.[\w-]{16}\.[\w-]+$/)
    assert.deepEqual(cipher.decrypt(text, 'user_totp 1'), PLAIN)
    assert.equal(cipher.decrypt(text, 'user_totp 2'), undefined)
    assert.equal(cipher.decrypt(text, ''), undefined)
  })

  test('the same secret never looks the same twice', () => {
    assert.notEqual(cipher.encrypt(PLAIN, 'x'), cipher.encrypt(PLAIN, 'x'))
  })

  test('another key opens nothing', () => {
    assert.equal(new Cipher(randomBytes(32)).decrypt(cipher.encrypt(PLAIN, 'x'), 'x'), undefined)
  })

  test('a text that was changed at any place, cut or lengthened opens nothing', () => {
    const text = cipher.encrypt(PLAIN, 'x')
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] as number) ^ 0x10
      assert.equal(cipher.decrypt(changed.toString('latin1'), 'x'), undefined, `at ${at}`)
    }
    for (let length = 0; length < text.length - 1; length++) {
      assert.equal(cipher.decrypt(text.slice(0, length), 'x'), undefined)
    }
    assert.equal(cipher.decrypt(`${text}AAAA`, 'x'), undefined)
    assert.equal(cipher.decrypt(text.replace('v1', 'v2'), 'x'), undefined)
  })

  test('any text gives an answer and never an error; any bytes survive', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(cipher.decrypt(text, 'x'), undefined)))
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (bytes, binding) => {
        const plain = Buffer.from(bytes)
        assert.deepEqual(cipher.decrypt(cipher.encrypt(plain, binding), binding), plain)
      }),
    )
  })

  test('a derived key is the same wherever the key is, and another one for each purpose and key', () => {
    const derived = cipher.deriveKey('tokens')
    assert.equal(derived.length, 32)
    assert.deepEqual(new Cipher(KEY).deriveKey('tokens'), derived)
    for (const other of [cipher.deriveKey('others'), new Cipher(randomBytes(32)).deriveKey('tokens'), KEY]) {
      assert.notDeepEqual(other, derived)
    }
  })

  test('a key has 32 bytes, as base64 of either alphabet or hexadecimal', () => {
    for (const text of [KEY.toString('hex'), KEY.toString('base64'), KEY.toString('base64url')]) {
      assert.deepEqual(parseEncryptionKey(text), KEY)
    }
    for (const text of [
      '',
      'secret',
      KEY.toString('hex').slice(2),
      KEY.subarray(1).toString('base64'),
      'ü'.repeat(43),
    ]) {
      assert.equal(parseEncryptionKey(text), undefined, text)
    }
    assert.throws(() => new Cipher(randomBytes(16)))
  })
})
