import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forwardedAddress } from './forwarded-address.ts'

test('a proxy that is trusted is believed whom it got a request from, and nobody else is', () => {
  const clientOf = forwardedAddress(['10.0.0.0/8', 'fd00::/8', '192.0.2.1', '::ffff:172.16.0.0/108'])
  for (const [address, forwardedFor, client] of [
    ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['10.1.2.3', undefined, '10.1.2.3'],
    ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['::ffff:198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['fd00::1', '2001:db8::5', '2001:db8::5'],
    ['172.16.5.6', '203.0.113.9', '203.0.113.9'],
    // The caller wrote the first one by itself.
    ['10.1.2.3', '6.6.6.6, 203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', '6.6.6.6, 203.0.113.9 , 192.0.2.1,fd00::2', '203.0.113.9'],
    ['10.1.2.3', '203.0.113.9:80, 10.1.2.4:5678', '203.0.113.9'],
    ['10.1.2.3', '10.9.9.9', '10.9.9.9'],
    ['10.1.2.3', 'unknown', '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
  ] as const) {
    assert.equal(clientOf(address, forwardedFor), client, `${address} ${forwardedFor}`)
  }
  assert.equal(forwardedAddress([])('127.0.0.1', '203.0.113.9'), '127.0.0.1')
})
