import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { credentialSource } from '../../../test/support/credential-source.ts'
import { credentialText, parseCredentials } from './credentials.ts'
import { csrfTokenMatches, isStateChanging } from './csrf.ts'
import { mintAccessToken, mintApiKey, mintApplicationKey, mintSessionToken } from './secrets.ts'
import { clearedSessionCookie, readSessionCookie, sessionCookie } from './session-cookie.ts'

const TOKEN = mintAccessToken().plain
const SESSION = mintSessionToken().plain
const API = mintApiKey().plain
const APPLICATION = mintApplicationKey().plain
const KEYS = { 'dd-api-key': API, 'dd-application-key': APPLICATION }
const COOKIE = { cookie: `theme=dark; commonplace_session=${SESSION}` }

function parse(headers: Record<string, string | string[] | undefined>) {
  return parseCredentials(credentialSource(headers, { remoteAddress: '', method: 'GET', serverOrigin: '' }))
}

describe('credentials of a request', () => {
  test('a bearer token is found whatever the case of the scheme', () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
      assert.deepEqual(parse({ authorization: `${scheme} ${TOKEN}` }), { kind: 'token', token: TOKEN })
      assert.deepEqual(parse({ authorization: `${scheme}   ${TOKEN}  ` }), { kind: 'token', token: TOKEN })
      assert.deepEqual(parse({ authorization: `${scheme}\t${TOKEN}` }), { kind: 'token', token: TOKEN })
    }
  })

  test('a text stands for a bearer or a key pair, and for nothing else', () => {
    const textOf = (headers: Record<string, string>) =>
      credentialText(credentialSource(headers, { remoteAddress: '', method: 'GET', serverOrigin: '' }))
    const basic = { authorization: 'Basic YTpi' }
    assert.equal(textOf({ authorization: `Bearer ${TOKEN}`, ...KEYS, ...COOKIE }), `Bearer ${TOKEN}`)
    assert.equal(textOf({ ...KEYS, ...basic }), textOf(KEYS))
    assert.equal(textOf({ 'x-api-key': API, 'x-application-key': APPLICATION }), textOf(KEYS))
    assert.equal(textOf({ 'x-application-key': APPLICATION }), undefined)
    assert.notEqual(textOf({ ...KEYS, 'dd-application-key': mintApplicationKey().plain }), textOf(KEYS))
    for (const headers of [{}, basic, COOKIE, { ...COOKIE, ...basic }, { 'dd-api-key': API }]) {
      assert.equal(textOf(headers as Record<string, string>), undefined)
    }
  })

  test('a session token may come as bearer or as cookie', () => {
    assert.deepEqual(parse({ authorization: `Bearer ${SESSION}` }), { kind: 'session', token: SESSION, via: 'session' })
    assert.deepEqual(parse(COOKIE), { kind: 'session', token: SESSION, via: 'cookie' })
  })

  test('a key pair is found under both names of each half', () => {
    for (const api of ['dd-api-key', 'x-api-key']) {
      for (const application of ['dd-application-key', 'x-application-key']) {
        const expected = { kind: 'key_pair', apiKey: API, applicationKey: APPLICATION }
        assert.deepEqual(parse({ [api]: API, [application]: APPLICATION }), expected)
      }
    }
  })

  test('the bearer token wins over the key pair, and the key pair over the cookie', () => {
    assert.equal(parse({ authorization: `Bearer ${TOKEN}`, ...KEYS, ...COOKIE }).kind, 'token')
    assert.equal(parse({ ...KEYS, ...COOKIE }).kind, 'key_pair')
  })

  test('a bad bearer token is judged alone, whatever else is sent', () => {
    assert.equal(parse({ authorization: 'Bearer nonsense', ...KEYS, ...COOKIE }).kind, 'malformed')
    assert.equal(parse({ authorization: 'Bearer', ...KEYS }).kind, 'malformed')
  })

  test('half a pair is as good as nothing, but not anonymous', () => {
    assert.equal(parse({ 'dd-api-key': API }).kind, 'incomplete')
    assert.equal(parse({ 'x-application-key': APPLICATION }).kind, 'incomplete')
    assert.equal(parse({ 'dd-api-key': API, 'dd-application-key': '' }).kind, 'incomplete')
    assert.equal(parse({ 'dd-api-key': API, ...COOKIE }).kind, 'session')
  })

  test('another scheme is not ours, but not anonymous either', () => {
    assert.equal(parse({ authorization: 'Basic YWRhOnNlY3JldA==' }).kind, 'incomplete')
    assert.equal(parse({ authorization: 'Basic YWRhOnNlY3JldA==', ...KEYS }).kind, 'key_pair')
    assert.equal(parse({ authorization: `Bearerx ${TOKEN}` }).kind, 'incomplete')
  })

  test('nothing is nothing', () => {
    assert.equal(parse({}).kind, 'absent')
    assert.equal(parse({ cookie: 'theme=dark' }).kind, 'absent')
    assert.equal(parse({ cookie: 'commonplace_session=' }).kind, 'absent')
  })

  test('a token of 64 KiB or with control characters is refused without a look-up', () => {
    for (const token of [
      'a'.repeat(65_536),
      `${TOKEN}\u0000`,
      `${TOKEN}\n`,
      `${TOKEN} ${TOKEN}`,
      'a'.repeat(30),
      'ä'.repeat(40),
    ]) {
      const kind = parse({ authorization: `Bearer ${token}x` }).kind
      assert.equal(kind, 'malformed', JSON.stringify(token.slice(0, 80)))
    }
    assert.equal(parse({ 'dd-api-key': 'a'.repeat(65_536), 'dd-application-key': APPLICATION }).kind, 'malformed')
    assert.equal(parse({ 'dd-api-key': API, 'dd-application-key': API }).kind, 'malformed')
    assert.equal(parse({ 'dd-api-key': APPLICATION, 'dd-application-key': APPLICATION }).kind, 'malformed')
    assert.equal(parse({ 'dd-api-key': [API, API], 'dd-application-key': APPLICATION }).kind, 'malformed')
    assert.equal(parse({ cookie: `commonplace_session=${'a'.repeat(65_536)}` }).kind, 'malformed')
  })

  test('any header whatever gives an answer and never an error', () => {
    const header = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(TOKEN, API, `Bearer ${TOKEN}`, COOKIE.cookie),
    )
    const names = ['authorization', 'dd-api-key', 'x-api-key', 'dd-application-key', 'x-application-key', 'cookie']
    const kinds = new Set(['absent', 'incomplete', 'malformed', 'token', 'session', 'key_pair'])
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), header), (headers) => {
        assert.ok(kinds.has(parse(headers).kind))
      }),
      { numRuns: 500 },
    )
  })

  test('whatever is looked up has the form of a secret of ours', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (token) => {
        const parsed = parse({ authorization: `Bearer ${token}` })
        if (parsed.kind === 'token') assert.match(parsed.token, /^[A-Za-z0-9_-]{32,128}$/)
      }),
      { numRuns: 500 },
    )
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{32,128}$/), (token) => {
        const parsed = parse({ authorization: `bearer ${token}` })
        assert.equal('token' in parsed ? parsed.token : undefined, token)
      }),
    )
  })
})

describe('the session cookie', () => {
  test('what is written is what is read', () => {
    const cookie = sessionCookie(SESSION, 3_600_000, 'https://example.org')
    const [pair] = cookie.split(';')
    assert.equal(readSessionCookie(pair as string), SESSION)
    assert.equal(cookie.slice((pair as string).length), '; Path=/; Max-Age=3600; HttpOnly; Secure; SameSite=Lax')
    assert.match(clearedSessionCookie('https://example.org'), /=; Path=\/; Max-Age=0; HttpOnly; Secure/)
  })

  test('it is bound to https exactly where people reach the server over https', () => {
    assert.match(sessionCookie(SESSION, 1_000, 'https://example.org'), /; Secure;/)
    assert.doesNotMatch(sessionCookie(SESSION, 1_000, 'http://localhost:4040'), /Secure/)
  })

  test('only the exact name counts, and the first of several', () => {
    assert.equal(readSessionCookie('xcommonplace_session=a; commonplace_session2=b'), undefined)
    assert.equal(readSessionCookie('commonplace_session=a; commonplace_session=b'), 'a')
    assert.equal(readSessionCookie('commonplace_session="a"'), 'a')
    assert.equal(readSessionCookie(';;=;commonplace_session'), undefined)
  })
})

describe('the CSRF check', () => {
  test('reading needs no token, everything else does', () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'get']) assert.equal(isStateChanging(method), false)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'TRACE', ''])
      assert.equal(isStateChanging(method), true)
  })

  test('only the very same token passes', () => {
    assert.equal(csrfTokenMatches('abc', 'abc'), true)
    for (const sent of [undefined, '', 'ab', 'abcd', 'ABC', 'a'.repeat(65_536)])
      assert.equal(csrfTokenMatches('abc', sent), false)
  })
})
