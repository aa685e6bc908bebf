import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { destinationOf } from '../destination-of.ts'
import { portOf, readTarget } from './target.ts'

function targetOf(text: string) {
  const { target, problem } = readTarget(text)
  assert.ok(target, `${text}: ${problem}`)
  return target
}

test('says what is wrong with an address', () => {
  const cases: [text: string, word: RegExp][] = [
    ['', /not set/],
    ['example.org/hook', /scheme/],
    ['//example.org', /scheme/],
    ['ftp://example.org', /scheme/],
    ['temporal://system', /scheme/],
    ['javascript:alert(1)', /scheme/],
    [' https://example.org', /scheme/],
    ['https://', /missing host/],
    ['https:///example.org', /missing host/],
    ['https:example.org', /missing host/],
    ['https:/example.org', /missing host/],
    ['https://:8080/', /missing host/],
    ['https://user@/', /missing host/],
    ['https://?x', /missing host/],
    ['https://exa mple.org/', /parsed/],
    ['https://example.org:99999/', /parsed/],
    ['https://[::1/', /parsed/],
    ['https://256.256.256.256/', /parsed/],
    ['https://4294967296/', /parsed/],
    ['https://a%2fb/', /parsed/],
    ['https://[fe80::1%25eth0]/', /parsed/],
    ['https://exa\nmple.org/', /parsed/],
    ['https://example.org/a\r\nx', /parsed/],
    ['https://example.org/\0', /parsed/],
    ['https://good.example\\@evil.example/', /parsed/],
    ['https://evil.example\\.good.example/', /parsed/],
  ]
  for (const [text, word] of cases) assert.match(readTarget(text).problem ?? 'no problem', word, text)
})

test('keeps path and query as written and drops the fragment', () => {
  const cases = [
    ['https://a.example', '/'],
    ['https://a.example#f', '/'],
    ['https://a.example?q=1', '/?q=1'],
    ['https://a.example/x/../y/./%2e%2E//z?a=b&c=%20;d#f?g', '/x/../y/./%2e%2E//z?a=b&c=%20;d'],
    ['https://a.example/a b/ü/日?q=é', '/a%20b/%C3%BC/%E6%97%A5?q=%C3%A9'],
    ['https://a.example/\ud800', '/%EF%BF%BD'],
    ['https://a.example/@x:1', '/@x:1'],
  ] as const
  for (const [text, path] of cases) assert.equal(targetOf(text).requestPath, path, text)
})

test('what is compared with the rules is the host as written, in lower case and without credentials', () => {
  const cases = [
    ['HTTPS://Hooks.Example.ORG/x', 'hooks.example.org', false],
    ['https://example.org:443/', 'example.org:443', false],
    ['https://ada:pw@example.org:8443/', 'example.org:8443', true],
    ['https://@example.org/', 'example.org', true],
    ['https://good.example@evil.example/', 'evil.example', true],
    ['https://a@b@evil.example/', 'evil.example', true],
    ['https://evil.example/@good.example', 'evil.example', false],
    ['https://evil.example?@good.example', 'evil.example', false],
    ['https://evil.example#@good.example', 'evil.example', false],
    ['https://[2606:4700::1]:8443/', '[2606:4700::1]:8443', false],
  ] as const
  for (const [text, authority, hasCredentials] of cases) {
    const target = targetOf(text)
    assert.deepEqual([target.authority, target.hasCredentials], [authority, hasCredentials], text)
  }
})

test('the host that is compared and the host that is called are the same', () => {
  const piece = fc.string({ unit: fc.constantFrom(...'ab1.:/\\@?#[]%2f \t\n_-é。') })
  fc.assert(
    fc.property(piece, piece, (left, right) => {
      const { target } = readTarget(`https://${left}@${right}/x`)
      if (target === undefined) return
      assert.equal(URL.parse(`https://${target.authority}`)?.host, target.url.host)
    }),
  )
})

test('a destination is folded: lower case, one spelling of the host, no port that goes without saying', () => {
  const cases = [
    ['HTTPS://Hooks.Example.ORG:443/x?y#z', 'https://hooks.example.org'],
    ['http://hooks.example.org:80', 'http://hooks.example.org'],
    ['http://hooks.example.org:443/', 'http://hooks.example.org:443'],
    ['https://hooks.example.org:08443/', 'https://hooks.example.org:8443'],
    ['https://ada:pw@hooks.example.org/', 'https://hooks.example.org'],
    ['https://0x8.8.2056/', 'https://8.8.8.8'],
    ['https://[2606:4700:0:0::1]:443/', 'https://[2606:4700::1]'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example'],
  ] as const
  for (const [text, destination] of cases) assert.equal(destinationOf(targetOf(text)), destination, text)
})

test('knows the port that is called', () => {
  assert.deepEqual(
    ['http://a.example', 'https://a.example', 'https://a.example:25', 'http://a.example:443'].map((text) =>
      portOf(targetOf(text)),
    ),
    [80, 443, 25, 443],
  )
})
