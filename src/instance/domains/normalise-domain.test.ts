import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { digestOf } from './domain-block.ts'
import { normaliseDomain, withParents } from './normalise-domain.ts'
import { obfuscateDomain } from './obfuscate-domain.ts'

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/).filter((text) => !text.startsWith('xn--'))
const name = fc
  .array(label, { minLength: 1, maxLength: 5 })
  .map((labels) => labels.join('.'))
  // A last label that is a number makes it an address.
  .filter((text) => !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(text))

describe('normalising a domain', () => {
  test('names that are written differently and mean the same become the same', () => {
    for (const text of ['にゃん', 'xn--r9j5b5b', ' XN--R9J5B5B. ', '//にゃん/', '\tにゃん\n']) {
      assert.equal(normaliseDomain(text), 'xn--r9j5b5b', text)
    }
    for (const text of [
      'Example.COM',
      'example.com/',
      ' example.com',
      'example.com.',
      'ＥＸＡＭＰＬＥ．com',
      'example。com',
    ]) {
      assert.equal(normaliseDomain(text), 'example.com', text)
    }
    assert.equal(normaliseDomain('zip'), 'zip')
  })

  test('what is no domain is refused', () => {
    const long = `${'a'.repeat(63)}.`
    for (const text of [
      '',
      ' ',
      '/',
      '.',
      '..',
      'a..b',
      '.a',
      'a b',
      'a_b.c',
      'a/b',
      'http://a.b',
      'a:80',
      'a@b',
      'a?b',
      'a#b',
      'a%62',
      'a\\b',
      '[::1]',
      '::1',
      '*.a',
      'a\u0000b',
      '\ud800.a',
      `${'a'.repeat(64)}.b`,
      `${long.repeat(4)}a`,
      'a'.repeat(100_000),
      '\u00ad',
    ]) {
      // biome-ignore format: a list of texts
      assert.equal(normaliseDomain(text), undefined, JSON.stringify(text.slice(0, 80)))
    }
    assert.equal(normaliseDomain(long.repeat(4).slice(0, 255))?.length, 255)
  })

  test('an ordinary name is kept, whatever its case and whatever blanks and slashes are around it', () => {
    const around = fc.stringMatching(/^[ /\t]{0,3}$/)
    fc.assert(
      fc.property(name, around, around, fc.boolean(), (domain, before, after, upper) => {
        assert.equal(normaliseDomain(before + (upper ? domain.toUpperCase() : domain) + after), domain)
      }),
    )
  })

  test('whatever is given, the answer has the right form and is its own answer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.domain(), fc.webUrl()), (text) => {
        const domain = normaliseDomain(text)
        if (domain === undefined) return
        assert.match(domain, /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/)
        assert.ok(domain.length < 256)
        assert.equal(normaliseDomain(domain), domain)
      }),
      { numRuns: 500 },
    )
  })

  test('the names above a domain, and none above an address', () => {
    assert.deepEqual(withParents('a.b.example.com'), ['a.b.example.com', 'b.example.com', 'example.com', 'com'])
    assert.deepEqual(withParents('zip'), ['zip'])
    assert.deepEqual(withParents('192.0.2.1'), ['192.0.2.1'])
  })

  test('the digest is that of the normalised name', () => {
    assert.equal(digestOf('example.com'), 'a379a6f6eeafb9a55e378c118034e2751e682fab9f2d30ab13d2125586ce1947')
    assert.equal(digestOf('birb.elfenban.de'), '5d2c6e02a0cced8fb05f32626437e3d23096480b47efbba659b6d9e80c85d280')
  })
})

describe('obfuscating a domain', () => {
  test('the examples of the contract', () => {
    assert.equal(obfuscateDomain('hostname.example.com'), 'hostna**.******e.com')
    assert.equal(obfuscateDomain('example.com'), 'exa****.*om')
  })

  test('length and dots stay, a quarter at each end stays, and the rest is stars', () => {
    fc.assert(
      fc.property(name, (domain) => {
        const shown = obfuscateDomain(domain)
        const visible = Math.floor(domain.length / 4)
        assert.equal(shown.length, domain.length)
        for (let i = 0; i < domain.length; i++) {
          const isHidden = visible < i && i < domain.length - visible && domain[i] !== '.'
          assert.equal(shown[i], isHidden ? '*' : domain[i])
        }
      }),
    )
  })
})
