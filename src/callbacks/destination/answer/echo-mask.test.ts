import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../../../platform/outbound/outbound-request.ts'
import { echoMask } from './echo-mask.ts'
import { readAnswer, snippetOf } from './read-answer.ts'

const SECRETS = {
  'temporal-callback-token': 'to/ken-1"x',
  authorization: 'Bearer abc.def',
  cookie: 'session=12345',
  'x-api-key': 'key-1234',
  'x-client-secret': Buffer.from('gehört mir').toString('latin1'),
  'x-session-token': ' tok-5678 ',
}

function maskOf(headers: Record<string, string>) {
  return echoMask(new Map(Object.entries(headers)))
}

test('secret values are taken out of what a receiver says, as they were given and as JSON writes them', () => {
  const mask = maskOf(SECRETS)
  assert.ok(mask !== undefined)
  const said = 'to/ken-1"x, Bearer abc.def, abc.def, session=12345, key-1234, gehört mir, tok-5678'
  assert.equal(mask(said), Array(7).fill('[redacted]').join(', '))
  assert.equal(mask(JSON.stringify({ token: 'to/ken-1"x' })), '{"token":"[redacted]"}')
  assert.equal(mask('{"token":"to\\/ken-1\\"x"}'), '{"token":"[redacted]"}')
  assert.equal(mask('no such order'), 'no such order')
})

test('a secret that begins with another one goes as a whole', () => {
  const mask = maskOf({ 'a-key': 'abcdef', 'b-key': 'abcdefghij', 'c-key': 'abcdef-klm' })
  assert.equal(mask?.('abcdefghij, abcdef-klm, abcdef'), '[redacted], [redacted], [redacted]')
})

test('what a receiver takes out of credentials and cookies is secret by itself', () => {
  const basic = Buffer.from('billing:pass:word').toString('base64')
  const mask = maskOf({ authorization: `Basic ${basic}`, cookie: 'lang=de; session="12345678=="; last=abcdef' })
  assert.equal(mask?.(`${basic}, billing:pass:word of billing`), '[redacted], billing:[redacted] of billing')
  assert.equal(
    mask?.('{"lang":"de","session":"12345678=="}, abcdef'),
    '{"lang":"de","session":"[redacted]"}, [redacted]',
  )
  assert.equal(maskOf({ authorization: 'Bearer abc' })?.('Bearer abc, Bearer, abc'), '[redacted], Bearer, abc')
  assert.equal(maskOf({ authorization: 'Bearer  abcdef' })?.('no "abcdef" here'), 'no "[redacted]" here')
})

test('of very many cookies the longest are secret by themselves, and whatever other headers hold', () => {
  const short = Array.from({ length: 1_000 }, (_, number) => `c=v${10_000 + number}`)
  const mask = maskOf({ cookie: [...short, 's=session-12345'].join('; '), authorization: 'Bearer abc.def' })
  assert.equal(mask?.('session-12345, abc.def, v10999'), '[redacted], [redacted], v10999')
  assert.equal(mask?.(`You sent ${short.join('; ')}; s=session-12345`), 'You sent [redacted]')
})

test('secret values are taken out however their signs were escaped', () => {
  const token = Buffer.from('run=42&s="é"').toString('latin1')
  const mask = maskOf({ authorization: 'Basic dXNlcjpw+/==', 'temporal-callback-token': token })
  assert.ok(mask !== undefined)
  for (const said of [
    '{"sent":"Basic dXNlcjpw+/\\u003d\\u003d","of":"run\\u003D42\\u0026s=\\"\\u00e9\\""}',
    JSON.stringify({ body: '{"sent":"dXNlcjpw+\\/\\u003d\\u003d","of":"run=42\\u0026s=\\"é\\""}' }),
    '<p>Basic dXNlcjpw&#43;&#x2F;&#x3D;&#61; of run&#x3D;42&amp;s=&quot;é&quot;</p>',
    '<p>Basic dXNlcjpw&#43;/== of run=42&AMP;s=&QUOT;é&QUOT;</p>',
    'Basic%20dXNlcjpw%2B%2f%3D%3D of run%3D42%26s%3D%22%C3%A9%22',
  ]) {
    const shown = mask(said)
    assert.equal(shown.split('[redacted]').length, 3, shown)
    assert.doesNotMatch(shown, /dXNl|42/)
  }
  const path = 'C:\\\\share'
  assert.equal(maskOf({ 'x-key': path })?.(JSON.stringify({ path })), '{"path":"[redacted]"}')
  for (const said of ['{"a":"\\u003d"}', 'a &amp; b', '100%25 %ff', '&#x110000;', `${'\\'.repeat(20_000)}u`]) {
    assert.equal(mask(said), said.slice(0, 16 * 1024))
  }
})

test('other headers, and values too short to be a secret, are left as they are', () => {
  assert.equal(
    maskOf({ 'x-tenant': 'tenant-1', 'nexus-operation-state': 'succeeded', 'webhook-id': 'abcdefgh' }),
    undefined,
  )
  assert.equal(maskOf({ 'temporal-callback-token': 't-1', authorization: 'Basic', 'x-key': '' }), undefined)
})

test('the token is taken out however many other headers there are', () => {
  const others = Array.from({ length: 500 }, (_, at) => [`x${at}-key`, `value-${at}`])
  const mask = maskOf({ ...Object.fromEntries(others), 'temporal-callback-token': 'secret-token' })
  assert.equal(mask?.('secret-token, value-1'), '[redacted], [redacted]')
})

test('they are in no message, no type of error, no text of a status and no snippet, wherever that is cut', () => {
  const mask = maskOf({ 'temporal-callback-token': 'secret-token' })
  const said = {
    message: 'bad secret-token',
    metadata: { type: 'nexus.HandlerError' },
    details: { type: 'secret-token' },
  }
  const headers = { 'content-type': 'application/json' }
  const body = Buffer.from(JSON.stringify(said))
  const answer: Answer = { status: 400, statusText: '', headers, body, bodyProblem: undefined }
  const verdict = readAnswer(answer, 0, 1, mask)
  assert.deepEqual([verdict.errorType, verdict.message], ['[redacted]', 'handler error ([redacted]): bad [redacted]'])
  const odd = readAnswer({ ...answer, status: 402, statusText: 'secret-token', body: Buffer.from('') }, 0, 1, mask)
  assert.equal(odd.message, 'unexpected response status: "402 [redacted]"')
  for (let before = 1000; before < 1030; before++) {
    const snippet = snippetOf(Buffer.from(`${'x'.repeat(before)}secret-token`), mask)
    assert.ok(!snippet.includes('secret') && snippet.length <= 1024, String(before))
  }
})

test('a secret that is cut in two shows nothing of its first part', () => {
  const long = 'long-secret-'.repeat(900)
  const mask = maskOf({ 'temporal-callback-token': long, 'x-key': 'short-secret' })
  assert.equal(mask?.(long.repeat(4)), '[redacted][redacted]')
  assert.equal(mask?.('refused: short-sec'), 'refused: [redacted]')
  assert.equal(mask?.('short-sec'), '[redacted]')
  assert.equal(mask?.('x short-short-'), 'x short-[redacted]')
  assert.equal(mask?.('refused: short-sec of yours, short'), 'refused: short-sec of yours, short')
  const bearer = maskOf({ authorization: 'Bearer abcdef.ghijkl' })
  assert.equal(bearer?.('not understood: Bearer'), 'not understood: Bearer')
  assert.equal(bearer?.('not understood: Bearer abcdef.gh'), 'not understood: Bearer [redacted]')
})

test('what a receiver means is read before anything is taken out', () => {
  const mask = maskOf({
    'temporal-callback-token': 'BAD_REQUEST',
    'x-key': 'application/json',
    'y-key': 'nexus.HandlerError',
  })
  const said = { message: 'm', metadata: { type: 'nexus.HandlerError' }, details: { type: 'BAD_REQUEST' } }
  const headers = { 'content-type': 'application/json' }
  const body = Buffer.from(JSON.stringify(said))
  const verdict = readAnswer({ status: 500, statusText: '', headers, body, bodyProblem: undefined }, 0, 1, mask)
  assert.deepEqual([verdict.result, verdict.errorType], ['terminal', 'BAD_REQUEST'])
})
