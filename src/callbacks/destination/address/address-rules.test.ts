import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createIpFilter } from '../../../platform/outbound/ip-filter.ts'
import { type AddressRule, findRuleProblem } from './address-rules.ts'
import { findTargetProblem } from './find-target-problem.ts'
import { readTarget, type Target } from './target.ts'

const DEFAULT_RULES = [{ pattern: '*', allow_insecure: false }]

function targetOf(text: string): Target {
  return readTarget(text).target as Target
}

function judge(rules: AddressRule[], url: string): string {
  const problem = findRuleProblem(rules, targetOf(url))
  if (problem === undefined) return 'allowed'
  return problem.includes('insecure') ? 'insecure' : problem.includes('does not match') ? 'no match' : problem
}

function allow(pattern: string, allow_insecure = false): AddressRule {
  return { pattern, allow_insecure }
}

test('a pattern is compared with the whole host and port', () => {
  const cases: [pattern: string, url: string, expected: string][] = [
    ['*', 'https://anything.example:8443/x', 'allowed'],
    ['example.org', 'https://example.org/', 'allowed'],
    ['EXAMPLE.org', 'https://Example.ORG/', 'allowed'],
    ['example.org', 'https://sub.example.org/', 'no match'],
    ['example.org', 'https://example.org.evil.example/', 'no match'],
    ['example.org', 'https://example.org:443/', 'no match'],
    ['example.org', 'https://example.org:8443/', 'no match'],
    ['example.org:443', 'https://example.org:443/', 'allowed'],
    ['example.org:*', 'https://example.org:8443/', 'allowed'],
    ['example.org:*', 'https://example.org/', 'no match'],
    ['*.example.org', 'https://a.b.example.org/', 'allowed'],
    ['*.example.org', 'https://example.org/', 'no match'],
    ['*.example.org', 'https://evilexample.org/', 'no match'],
    ['*.example.org', 'https://a.example.org@evil.example/', 'no match'],
    ['*.example.org', 'https://evil.example/.example.org', 'no match'],
    ['hooks-*.example.*', 'https://hooks-7.example.net/', 'allowed'],
    ['a*a', 'https://a/', 'no match'],
    ['a*a', 'https://aa/', 'allowed'],
    ['*ab*ab*', 'https://ab/', 'no match'],
    ['*ab*ab*', 'https://xabyabz/', 'allowed'],
    ['*ab*b', 'https://xab/', 'no match'],
    ['*ab*b', 'https://xabb/', 'allowed'],
    ['h*ab*ba*', 'https://haba/', 'no match'],
    ['**', 'https://x.example/', 'allowed'],
    ['example.or.', 'https://example.org/', 'no match'],
    ['exampl[e].org', 'https://example.org/', 'no match'],
    ['(.+)+', 'https://example.org/', 'no match'],
    ['[::1]:*', 'https://[::1]:9000/', 'allowed'],
    ['', 'https://example.org/', 'no match'],
  ]
  for (const [pattern, url, expected] of cases)
    assert.equal(judge([allow(pattern)], url), expected, `${pattern} ${url}`)
})

test('the first rule that matches decides, also when it refuses plain http', () => {
  const rules = [allow(''), allow('strict.example'), allow('*.local.example', true), allow('*', true)]
  assert.equal(judge(rules, 'http://strict.example/'), 'insecure')
  assert.equal(judge(rules, 'https://strict.example/'), 'allowed')
  assert.equal(judge(rules, 'http://a.local.example/'), 'allowed')
  assert.equal(judge(rules, 'http://other.example/'), 'allowed')
})

test('a host that is called by https only is so in every spelling', () => {
  const rules = [allow('strict.example'), allow('strict.example:8080'), allow('127.0.0.1'), allow('*', true)]
  for (const host of ['strict.example.', '%73trict.example', '\uff53trict.example', 'strict\u3002example']) {
    assert.equal(judge(rules, `http://${host}/`), 'insecure', host)
    assert.equal(judge(rules, `http://${host}:8080/`), 'insecure', host)
    assert.equal(judge(rules, `http://${host}:8081/`), 'allowed', host)
    assert.equal(judge(rules, `https://${host}/`), 'allowed', host)
  }
  assert.equal(judge(rules, 'http://0x7f.1/'), 'insecure')
  assert.equal(judge([allow('127.0.0.1')], 'https://0x7f.1/'), 'no match')
})

test('without a rule that matches nothing is allowed', () => {
  assert.equal(judge([], 'https://example.org/'), 'no match')
  assert.equal(judge([allow('a.example'), allow('b.example', true)], 'https://example.org/'), 'no match')
})

test('by default every host may be called by https and none by http', () => {
  assert.equal(judge(DEFAULT_RULES, 'https://example.org:8443/'), 'allowed')
  assert.equal(judge(DEFAULT_RULES, 'http://example.org/'), 'insecure')
})

test('stars mean the same as in a plain search for the pieces', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 12 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*'), minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(pattern, text, (glob, authority) => {
      const expected = new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(authority)
      const target = { ...targetOf('https://example.org'), authority }
      assert.equal(findRuleProblem([allow(glob)], target) === undefined, expected)
    }),
  )
})

test('a pattern of many stars takes no longer than its length', () => {
  const target = { ...targetOf('https://example.org'), authority: 'a'.repeat(1000) }
  assert.ok(findRuleProblem([allow(`${'*a'.repeat(150)}b`)], target))
})

test('a target is judged by rules, credentials, address and port, in this order', () => {
  const policy = { rules: [allow('*', true)], filter: createIpFilter([]), deniedPorts: [22, 443] }
  const cases: [url: string, word: RegExp][] = [
    ['http://ada:pw@127.0.0.1:22/', /user or password/],
    ['http://@example.org/', /user or password/],
    ['http://127.0.0.1:22/', /destination address not allowed/],
    ['http://example.org:22/', /port 22/],
    ['https://example.org/', /port 443/],
    ['http://example.org:0/', /port 0, which is not allowed/],
    ['http://example.org:00/', /port 0/],
  ]
  for (const [url, word] of cases) assert.match(findTargetProblem(targetOf(url), policy) ?? '', word, url)
  assert.match(
    findTargetProblem(targetOf('http://a:b@127.0.0.1/'), { ...policy, rules: DEFAULT_RULES }) ?? '',
    /insecure/,
  )
  assert.equal(findTargetProblem(targetOf('http://example.org:8080/'), policy), undefined)
})

test('a problem never repeats the credentials of the address', () => {
  assert.doesNotMatch(findRuleProblem([], targetOf('https://ada:hunter2@example.org/?key=hunter2')) ?? '', /hunter2/)
})
