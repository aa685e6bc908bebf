import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { BlockSeverity } from '../tables.ts'
import { isCovered, SEVERITIES } from './domain-block.ts'
import { refusalOf } from './domain-verdict.ts'

function policy(severities: Record<string, BlockSeverity>, allowed: string[] | null = null) {
  return { severities: new Map(Object.entries(severities)), allowed: allowed && new Set(allowed) }
}

describe('whether something may be delivered to a host', () => {
  test('a suspension covers the domain and all below it, and nothing that only ends alike', () => {
    const rules = policy({ 'example.com': 'suspend' })
    for (const host of ['example.com', 'a.example.com', 'A.B.Example.com', 'example.com.']) {
      assert.equal(refusalOf(rules, host), 'The domain rule for example.com forbids deliveries', host)
    }
    for (const host of ['com', 'notexample.com', 'example.com.org', '192.0.2.1', '[::1]', '']) {
      assert.equal(refusalOf(rules, host), null, host)
    }
  })

  test('a host that no rule can name is below the domains that its name ends in', () => {
    const hosts = ['a_b.example.com', 'A~B.Example.com.', 'a+b.c.example.com', `${'a'.repeat(300)}.example.com`]
    for (const host of hosts) {
      assert.notEqual(refusalOf(policy({ 'example.com': 'suspend' }), host), null, host)
      assert.equal(refusalOf(policy({}, ['example.com']), host), null, host)
      assert.match(refusalOf(policy({}, ['example.net']), host) ?? '', /^Deliveries go to allowed domains only/, host)
    }
    assert.equal(refusalOf(policy({ 'example.com': 'suspend' }), 'a_example.com'), null)
  })

  test('the most specific entry decides, whatever it says', () => {
    const rules = policy({ zip: 'suspend', 'a.zip': 'silence', 'b.a.zip': 'suspend', 'c.zip': 'noop' })
    assert.notEqual(refusalOf(rules, 'x.zip'), null)
    assert.notEqual(refusalOf(rules, 'y.b.a.zip'), null)
    for (const host of ['a.zip', 'z.a.zip', 'c.zip', 'd.c.zip']) assert.equal(refusalOf(rules, host), null, host)
  })

  test('in whitelist mode only allowed domains and those below them, and a suspension still wins', () => {
    const rules = policy({ 'bad.example.org': 'suspend', 'quiet.example.org': 'silence' }, ['example.org', '192.0.2.1'])
    for (const host of ['example.org', 'a.example.org', 'quiet.example.org', '192.0.2.1']) {
      assert.equal(refusalOf(rules, host), null, host)
    }
    assert.equal(refusalOf(rules, 'bad.example.org'), 'The domain rule for bad.example.org forbids deliveries')
    for (const host of ['example.net', 'org', '192.0.2.2', '[2001:db8::1]']) {
      assert.match(refusalOf(rules, host) ?? '', /^Deliveries go to allowed domains only/, host)
    }
  })

  test('an address is matched as a whole, never by its end', () => {
    const rules = policy({ '192.0.2.1': 'suspend' })
    assert.notEqual(refusalOf(rules, '192.0.2.1'), null)
    assert.equal(refusalOf(rules, '10.192.0.2'), null)
  })

  test('is what the entry with the longest matching name says', () => {
    const label = fc.constantFrom('a', 'b', 'c')
    const domain = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
    const entries = fc.dictionary(domain, fc.constantFrom(...SEVERITIES))
    fc.assert(
      fc.property(entries, domain, (rules, host) => {
        const matching = Object.keys(rules).filter((name) => host === name || host.endsWith(`.${name}`))
        const longest = matching.sort((x, y) => y.length - x.length)[0]
        const isRefused = longest !== undefined && rules[longest] === 'suspend'
        assert.equal(refusalOf(policy(rules), host) !== null, isRefused)
      }),
    )
  })
})

describe('whether an entry covers another', () => {
  const rules = fc.record({
    severity: fc.constantFrom(...SEVERITIES),
    rejectMedia: fc.boolean(),
    rejectReports: fc.boolean(),
  })

  test('by severity, and by what is rejected beside it', () => {
    const none = { rejectMedia: false, rejectReports: false }
    const media = { rejectMedia: true, rejectReports: false }
    assert.equal(isCovered({ severity: 'silence', ...none }, { severity: 'suspend', ...none }), true)
    assert.equal(isCovered({ severity: 'suspend', ...media }, { severity: 'suspend', ...none }), true)
    assert.equal(isCovered({ severity: 'suspend', ...none }, { severity: 'silence', ...media }), false)
    assert.equal(isCovered({ severity: 'noop', ...media }, { severity: 'silence', ...none }), false)
  })

  test('each covers itself, and covering goes through', () => {
    fc.assert(
      fc.property(rules, rules, rules, (a, b, c) => {
        assert.ok(isCovered(a, a))
        if (isCovered(a, b) && isCovered(b, c)) assert.ok(isCovered(a, c))
      }),
    )
  })
})
