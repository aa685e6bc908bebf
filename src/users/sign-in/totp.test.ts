import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { MICROS_PER_SECOND } from '../../platform/clock/clock.ts'
import { mintRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts'
import { base32, matchingStep, otpauthUri, stepAt, TOTP_CODE, totpCode } from './totp.ts'

const SECRET = Buffer.from('12345678901234567890')
const NOW = 1_900_000_000 * MICROS_PER_SECOND
const STEP = stepAt(NOW)

describe('one-time passwords', () => {
  test('the vectors of RFC 6238 come out', () => {
    const vectors = [
      [59, '94287082'],
      [1_111_111_109, '07081804'],
      [1_111_111_111, '14050471'],
      [1_234_567_890, '89005924'],
      [2_000_000_000, '69279037'],
      [20_000_000_000, '65353130'],
    ] as const
    for (const [seconds, expected] of vectors) assert.equal(totpCode(SECRET, Math.floor(seconds / 30), 8), expected)
    assert.equal(totpCode(SECRET, stepAt(59 * MICROS_PER_SECOND)), '287082')
  })

  test('a code of the step before, of now and of the step after fits, and no other', () => {
    for (const [drift, fits] of [
      [-2, false],
      [-1, true],
      [0, true],
      [1, true],
      [2, false],
    ] as const) {
      const step = matchingStep(SECRET, totpCode(SECRET, STEP + drift), NOW, 0)
      assert.equal(step, fits ? STEP + drift : undefined, `${drift} steps`)
    }
  })

  test('a step that was used fits no more, nor does one before it', () => {
    for (const drift of [-1, 0, 1]) {
      assert.equal(matchingStep(SECRET, totpCode(SECRET, STEP + drift), NOW, STEP + drift), undefined)
      assert.equal(matchingStep(SECRET, totpCode(SECRET, STEP + drift), NOW, STEP + 1), undefined)
      assert.equal(matchingStep(SECRET, totpCode(SECRET, STEP + drift), NOW, STEP - 2), STEP + drift)
    }
  })

  test('any text gives an answer and never an error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const step = matchingStep(SECRET, text, NOW, 0)
        assert.ok(step === undefined || TOTP_CODE.test(text))
      }),
    )
  })

  test('a secret is shown in base32 as RFC 4648 has it, without padding', () => {
    const vectors = {
      '': '',
      f: 'MY',
      fo: 'MZXQ',
      foo: 'MZXW6',
      foob: 'MZXW6YQ',
      fooba: 'MZXW6YTB',
      foobar: 'MZXW6YTBOI',
    }
    for (const [text, expected] of Object.entries(vectors)) assert.equal(base32(Buffer.from(text)), expected)
    assert.match(base32(randomBytes(20)), /^[A-Z2-7]{32}$/)
  })

  test('the address for apps survives any name', () => {
    const uri = otpauthUri(SECRET, 'Food & Co: "x"', 'ada+test@example.org')
    const url = new URL(uri)
    assert.equal(decodeURIComponent(url.pathname), '/Food & Co: "x":ada+test@example.org')
    assert.equal(url.searchParams.get('issuer'), 'Food & Co: "x"')
    assert.equal(url.searchParams.get('secret'), base32(SECRET))
  })
})

describe('recovery codes', () => {
  test('there are ten, all different, each with 80 random bits', () => {
    const codes = mintRecoveryCodes()
    assert.equal(new Set(codes).size, 10)
    for (const code of codes) assert.match(code, /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
  })

  test('it does not matter how one is typed', () => {
    const [code] = mintRecoveryCodes() as [string]
    for (const typed of [code.toUpperCase(), code.replaceAll('-', ''), ` ${code.replaceAll('-', ' ')} `]) {
      assert.equal(recoveryCodeHash(typed), recoveryCodeHash(code))
    }
    assert.notEqual(recoveryCodeHash(`${code}a`), recoveryCodeHash(code))
  })
})
