import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIpFilter } from './ip-filter.ts'
import type { OutboundRequest } from './outbound-request.ts'
import { requestBytes, requestHead, requestParts } from './request-bytes.ts'

function requestOf(given: Partial<OutboundRequest>): OutboundRequest {
  return {
    url: new URL('http://[::1]:8080/'),
    path: '/in//box?a=b%20c',
    method: 'POST',
    headers: new Map(),
    body: Buffer.from('\r\n\r\n'),
    filter: createIpFilter([]),
    timeoutMs: 1,
    maxBodyBytes: 1,
    isSuccessEnough: true,
    ...given,
  }
}

test('a request is written as HTTP/1.1 has it, and can be taken apart again', () => {
  const headers = new Map([
    ['X-A', 'b: c'],
    ['x-text', 'gr\xfc\xdfe'],
    ['Host', 'elsewhere'],
    ['te', 'x'],
  ])
  const request = requestOf({ headers })
  const carried = requestBytes(request)
  assert.equal(
    Buffer.from(carried.bytes).toString('latin1'),
    'POST /in//box?a=b%20c HTTP/1.1\r\nhost: [::1]:8080\r\nconnection: keep-alive\r\n' +
      'X-A: b: c\r\nx-text: gr\xfc\xdfe\r\ncontent-length: 4\r\n\r\n\r\n\r\n',
  )
  assert.deepEqual(requestParts(carried), {
    method: 'POST',
    path: request.path,
    headers: [
      ['X-A', 'b: c'],
      ['x-text', 'gr\xfc\xdfe'],
    ],
    body: Buffer.from('\r\n\r\n'),
  })
})

test('what is about the connection is said by nobody but us', () => {
  const theirs = ['Host', 'Content-Length', 'Connection', 'Transfer-Encoding', 'Keep-Alive', 'Upgrade', 'Expect', 'TE']
  const names = [...theirs, 'HTTP2-Settings'].flatMap((name) => [name, name.toLowerCase()])
  const headers = new Map(names.map((name) => [name, 'x']))
  const carried = requestBytes(requestOf({ headers }))
  assert.equal(
    Buffer.from(carried.bytes.subarray(0, carried.headBytes)).toString('latin1'),
    'POST /in//box?a=b%20c HTTP/1.1\r\nhost: [::1]:8080\r\nconnection: keep-alive\r\ncontent-length: 4\r\n\r\n',
  )
  assert.deepEqual(requestParts(carried).headers, [])
})

test('blanks around a value, which HTTP/2 has no room for, are left out of the parts', () => {
  const headers = new Map([
    ['x-a', ' \t b  c\t '],
    ['x-b', '\td'],
    ['x-c', '  '],
  ])
  const carried = requestBytes(requestOf({ headers }))
  assert.deepEqual(requestParts(carried).headers, [
    ['x-a', 'b  c'],
    ['x-b', 'd'],
    ['x-c', ''],
  ])
})

test('a GET has no body, and says nothing of one', () => {
  const { bytes, headBytes } = requestBytes(requestOf({ method: 'GET', path: '/' }))
  assert.equal(bytes.length, headBytes)
  assert.equal(
    Buffer.from(bytes).toString('latin1'),
    'GET / HTTP/1.1\r\nhost: [::1]:8080\r\nconnection: keep-alive\r\n\r\n',
  )
})

test('nothing is written that would add a line or another request', () => {
  for (const header of [
    ['x-a', 'b\r\nx-c: d'],
    ['x-a', 'b\n'],
    ['x-a', '\0'],
    ['x-a', '\u0100'],
    ['x a', 'b'],
    ['x-a:', 'b'],
    ['', 'b'],
    ['x-a\r\nx-c', 'd'],
  ] as const) {
    const headers = new Map([header])
    assert.throws(() => requestHead(requestOf({ headers })), /a header cannot be sent/, JSON.stringify(header))
  }
  for (const path of ['', 'x', '/a b', '/a\r\nx: y', '/\u0100', '/\0']) {
    assert.throws(() => requestHead(requestOf({ path })), /the path cannot be sent/, JSON.stringify(path))
  }
})

test('a value that is nearly all blanks takes no longer than another of its length', () => {
  // Looked at once for each of its blanks, this one would take an hour.
  const value = `a${' '.repeat(4_000_000)}b`
  const carried = requestBytes(requestOf({ headers: new Map([['x-a', value]]) }))
  assert.equal(requestParts(carried).headers[0]?.[1] === value, true)
})
