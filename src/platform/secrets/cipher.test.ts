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

  test('bytes are sealed under a key that each process derives for itself, and every process with the key opens them', () => {
    const other = new Cipher(KEY)
    const [one, two, three] = [cipher.seal(PLAIN, 'x'), cipher.seal(PLAIN, 'x'), other.seal(PLAIN, 'x')]
    const salt = (sealed: Buffer) => sealed.toString('hex', 0, 9)
    assert.equal(one[0], 2)
    assert.equal(salt(one), salt(two))
    assert.notEqual(salt(one), salt(three))
    assert.notDeepEqual(one, two)
    for (const sealed of [one, two, three]) {
      for (const opens of [cipher, other, new Cipher(KEY)]) {
        assert.deepEqual(opens.open(sealed, 'x'), PLAIN)
        assert.equal(opens.open(sealed, 'y'), undefined)
      }
      assert.equal(new Cipher(randomBytes(32)).open(sealed, 'x'), undefined)
    }
  })

  test('bytes that were sealed by the key itself, as they once were, stay readable', () => {
    const sealed = '01edf83b751e2b121c8ede1b47f0f98f69adcfeb4e4b5718bb3572ea61bc97950579a35154'
    const old = new Cipher(Buffer.alloc(32, 7))
    assert.deepEqual(old.open(Buffer.from(sealed, 'hex'), 'x'), PLAIN)
    assert.equal(old.open(Buffer.from(sealed, 'hex'), 'y'), undefined)
  })

  test('sealed bytes that were changed at any place, cut or lengthened open nothing', () => {
    const sealed = cipher.seal(PLAIN, 'x')
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] as number) ^ 0x10
      assert.equal(cipher.open(changed, 'x'), undefined, `at ${at}`)
    }
    for (let length = 0; length < sealed.length; length++) {
      assert.equal(cipher.open(sealed.subarray(0, length), 'x'), undefined)
    }
    assert.equal(cipher.open(Buffer.concat([sealed, Buffer.alloc(3)]), 'x'), undefined)
    fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.equal(cipher.open(bytes, 'x'), undefined)))
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
