import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { domainOf, parseEmail } from './email.ts'

describe('parseEmail', () => {
  test('trims and lower-cases', () => {
    assert.equal(parseEmail('  Ada@Example.ORG \n'), 'ada@example.org')
    assert.equal(parseEmail('ÄDA@BÜCHER.example'), 'äda@bücher.example')
  })

  test('an accent as a sign of its own makes no other address', () => {
    assert.equal(parseEmail('Jose\u0301@cafe\u0301.example'), 'jos\u00e9@caf\u00e9.example')
  })

  test('accepts what the contract allows', () => {
    const good = [
      'a@b',
      'admin@localhost.localdomain',
      "o'neil+tag@example.org",
      'a.b-c_d@x-y.example',
      '用户@例子.example',
      `${'a'.repeat(64)}@example.org`,
    ]
    for (const email of good) assert.equal(parseEmail(email), email)
    assert.equal(domainOf('a@b.example'), 'b.example')
  })

  test('refuses what it does not', () => {
    const bad = [
      '',
      'a@',
      '@b',
      'ab',
      'a@b@c',
      'a.example.org',
      'a@b_c',
      'a@b..c',
      'a@.b',
      'a@b.',
      'a@b c',
      'a b@c',
      'a\u0000@b',
      'a\u0007b@c',
    ]
    const hidden = ['a\u200b@b', 'a@b\u202e', 'a\u00a0b@c', 'a\ud800@b', 'a@[127.0.0.1]', 'a@b,c@d', '<a@b>', 'a@b>']
    for (const email of [...bad, ...hidden]) assert.equal(parseEmail(email), undefined, JSON.stringify(email))
  })

  test('holds to the lengths', () => {
    assert.equal(parseEmail(`${'a'.repeat(65)}@example.org`), undefined)
    const domain = `${'b'.repeat(60)}.${'c'.repeat(128)}`
    assert.equal(parseEmail(`${'a'.repeat(64)}@${domain}`)?.length, 254)
    assert.equal(parseEmail(`${'a'.repeat(64)}@${domain}d`), undefined)
    assert.equal(parseEmail(`${'a'.repeat(1_000_000)}@example.org`), undefined)
  })

  test('parsing what was parsed changes nothing', () => {
    const text = fc.oneof(
      fc.emailAddress(),
      fc.string({ unit: 'binary' }),
      fc.tuple(fc.string({ unit: 'grapheme' }), fc.domain()).map((parts) => parts.join('@')),
    )
    fc.assert(
      fc.property(text, (given) => {
        const email = parseEmail(given)
        if (email === undefined) return
        assert.equal(parseEmail(email), email)
        assert.equal(email, email.trim())
        assert.equal(email.split('@').length, 2)
        assert.doesNotMatch(email, /[\s\p{Cc}]/u)
      }),
      { numRuns: 200 },
    )
  })

  test('accepts every plain address in any case', () => {
    const address = fc.tuple(fc.stringMatching(/^[A-Za-z0-9._+-]{1,64}$/), fc.domain()).map((parts) => parts.join('@'))
    fc.assert(fc.property(address, (given) => assert.equal(parseEmail(given), given.toLowerCase())))
  })
})
