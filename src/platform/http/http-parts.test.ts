import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { parseId } from '../ids/uuid.ts'
import { codingFor } from './answer/compression.ts'
import { matchesNone, requireMatch, weakETag } from './answer/etag.ts'
import { networkOf, plainAddress } from './connection/client-address.ts'
import { PipelinedRequests } from './connection/pipelined-requests.ts'
import { requestIdFor } from './connection/request-id.ts'
import { html } from './pages/html.ts'

test('a harmless request id is echoed, any other is replaced', () => {
  assert.equal(requestIdFor('abc.DEF_1-2'), 'abc.DEF_1-2')
  for (const bad of [undefined, '', 'a b', 'x'.repeat(129), 'ä', 'a"b', ['a', 'b']]) {
    const id = requestIdFor(bad)
    assert.equal(id, parseId(id))
  }
})

test('tags are compared weakly, in lists and with the star', () => {
  const etag = weakETag('{"a":1}')
  assert.match(etag, /^W\/"[\w-]+"$/)
  assert.equal(etag, weakETag(Buffer.from('{"a":1}')))
  for (const header of [etag, etag.slice(2), '*', `"x", ${etag}, W/"y"`])
    assert.equal(matchesNone(header, etag), true, header)
  for (const header of [undefined, '', '"x"', 'W/"x"', etag.slice(3, -1)])
    assert.equal(matchesNone(header, etag), false)
})

test('If-Match lets the current version pass and nothing else', () => {
  requireMatch(undefined, null)
  requireMatch('*', '"v1"')
  requireMatch('"v0", W/"v1"', '"v1"')
  assert.throws(() => requireMatch('"v0"', '"v1"'), { code: 'precondition_failed' })
  assert.throws(() => requireMatch('*', null), { code: 'precondition_failed' })
  for (const header of ['*', '"v1"', 'W/"v1", "v1"', '"v0","v1"']) requireMatch(header, '"v1"', 'strong')
  for (const [header, current] of [
    ['W/"v1"', '"v1"'],
    ['"v0", W/"v1"', '"v1"'],
    ['W/"v1"', 'W/"v1"'],
    ['"v1"', 'W/"v1"'],
    ['v1', '"v1"'],
  ] as const) {
    assert.throws(() => requireMatch(header, current, 'strong'), { code: 'precondition_failed' }, header)
  }
})

test('If-Match that lost its quotes is told of them, not to read again', () => {
  for (const header of ['v1', 'v0, v1', ''])
    assert.throws(() => requireMatch(header, '"v1"', 'strong'), /with its quotes/)
  for (const header of ['"v0"', 'W/"v0"']) assert.throws(() => requireMatch(header, '"v1"', 'strong'), /read it again/)
  assert.throws(() => requireMatch('*', null, 'strong'), /read it again/)
})

test('the best coding that the caller takes is chosen', () => {
  assert.equal(codingFor('gzip, deflate, br'), 'br')
  assert.equal(codingFor('gzip;q=1.0, *;q=0'), 'gzip')
  assert.equal(codingFor('br;q=0, gzip'), 'gzip')
  assert.equal(codingFor('br;q=0.0,gzip;q=0'), null)
  assert.equal(codingFor('br;q=0.5'), 'br')
  assert.equal(codingFor('identity'), null)
  assert.equal(codingFor(undefined), null)
  assert.equal(codingFor('br ; q=0.000 , gzip ; q=0 '), null)
  assert.equal(codingFor('br;q=0.0001, gzip'), 'br')
})

test('a header that is as long as it may be does not hold up others while it is read', () => {
  // Expressions that backtrack would need hours for these.
  const long = 1_000_000
  for (const piece of ['a', 'a ', ';', ' ', ',', 'br;q=0,']) codingFor(`${piece.repeat(long)}q=0, gzip`)
  assert.equal(codingFor(`${'a'.repeat(long)} q=0, gzip`), 'gzip')
  for (const piece of ['"', 'W/', ',']) matchesNone(piece.repeat(long), '"v1"')
})

test('an IPv6 subscriber is counted by network, an IPv4 one by address', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7')
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(networkOf('2001:db8:1:2::9'), networkOf('2001:0db8:0001:0002:ffff::1'))
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.equal(plainAddress('::ffff:127.0.0.1'), '127.0.0.1')
})

test('a port that a proxy adds to an address makes no other client of it', () => {
  for (const [given, plain] of [
    ['203.0.113.9:50123', '203.0.113.9'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[::ffff:203.0.113.9]:443', '203.0.113.9'],
    ['2001:db8::1:443', '2001:db8::1:443'],
    ['unknown:80', 'unknown:80'],
  ] as const) {
    assert.equal(plainAddress(given), plain)
  }
  assert.equal(networkOf('203.0.113.9:50123'), networkOf('203.0.113.9'))
  assert.equal(networkOf('[2001:db8::1]:1'), networkOf('2001:db8::2'))
})

test('whatever is put into a page is escaped', () => {
  assert.equal(
    html`<b>${'<script>&"\''}</b>${[html`<i>`, '<']}${undefined}`.text,
    '<b>&lt;script&gt;&amp;&quot;&#39;</b><i>&lt;',
  )
})

test('where too many pipelined requests wait, a connection that brings one more is cut off, and those before it are not', async () => {
  const pipelined = new PipelinedRequests(2)
  const began = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  const server = createServer((request, response) =>
    pipelined.inTurn(request, response, async () => {
      began.resolve()
      await mayEnd.promise
      response.end(request.url)
    }),
  )
  Object.assign(server, { httpAllowHalfOpen: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const send = (...paths: string[]) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.end(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
    return text(socket)
  }
  const patient = send('/first', '/second', '/third')
  await began.promise
  assert.equal(pipelined.waiting, 2)
  assert.equal(await send('/fourth', '/fifth'), '')
  mayEnd.resolve()
  assert.deepEqual((await patient).match(/\/\w+$|\/\w+(?=HTTP)/g), ['/first', '/second', '/third'])
  assert.equal(pipelined.waiting, 0)
  server.close()
})
