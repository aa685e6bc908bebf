import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { credentialSource } from '../../../test/support/credential-source.ts'
import { isLoopbackAddress, isLoopbackHost, isTrustedLocally } from './local-trust.ts'

const ORIGIN = 'http://localhost:4040'

function trusted(headers: Record<string, string>, remoteAddress = '127.0.0.1', serverOrigin = ORIGIN): boolean {
  const withHost = 'host' in headers || ':authority' in headers ? headers : { host: 'localhost:4040', ...headers }
  return isTrustedLocally(credentialSource(withHost, { remoteAddress, method: 'POST', serverOrigin }))
}

describe('the rule by which dev trusts a request without credentials', () => {
  test('a request over loopback is trusted', () => {
    assert.equal(trusted({}), true)
    for (const address of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1']) {
      assert.equal(trusted({}, address), true, address)
    }
  })

  test('an address that is not loopback is not', () => {
    const others = ['10.0.0.1', '192.168.1.4', '128.0.0.1', '0.0.0.0', '::', 'fe80::1', '::2', '::ffff:10.0.0.1', '']
    const lookAlikes = [
      '127.0.0.1.example.org',
      '1127.0.0.1',
      '127.0.0',
      '127.0.0.256',
      '127.0.0.01',
      '127.1',
      'localhost',
    ]
    for (const address of [...others, ...lookAlikes]) assert.equal(trusted({}, address), false, address)
  })

  test('a forwarding header of any kind ends the trust, even an empty one', () => {
    const names = [
      'forwarded',
      'x-real-ip',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-forwarded-anything',
    ]
    for (const name of names) {
      assert.equal(trusted({ [name]: '127.0.0.1' }), false, name)
      assert.equal(trusted({ [name]: '' }), false, name)
    }
    assert.equal(trusted({ 'x-forwardedish': '1', 'x-real-ip-2': '1' }), true)
  })

  test('the host must be a loopback name', () => {
    for (const host of [
      'localhost',
      'localhost:4040',
      'LOCALHOST',
      'a.localhost',
      'a.b.localhost:1',
      '127.0.0.1',
      '127.5.5.5:4040',
      '[::1]',
      '[::1]:4040',
    ]) {
      assert.equal(trusted({ host }), true, host)
    }
    const hostile = [
      'example.org',
      'example.org:4040',
      'localhost.example.org',
      'notlocalhost',
      '.localhost',
      '127.0.0.1.example.org',
    ]
    const odd = [
      '',
      ' ',
      'localhost:',
      'localhost:x',
      'localhost:4040:4040',
      'ada@localhost',
      'localhost/',
      '[::2]',
      '::1',
      '0.0.0.0',
      '2130706433',
      'localhost, example.org',
      'localhost.',
    ]
    for (const host of [...hostile, ...odd]) assert.equal(trusted({ host }), false, host)
  })

  test('without a host there is no trust, and RPC calls it by another name', () => {
    assert.equal(isLoopbackHost(undefined), false)
    assert.equal(trusted({ ':authority': 'localhost:4041' }), true)
    assert.equal(trusted({ ':authority': 'example.org' }), false)
  })

  test('the origin, if there is one, must be our own', () => {
    assert.equal(trusted({ origin: ORIGIN }), true)
    for (const host of ['127.0.0.1:4040', '[::1]:4040', 'my.localhost:4040']) {
      assert.equal(trusted({ host, origin: `http://${host}` }), true, host)
    }
    assert.equal(trusted({ host: 'LocalHost:4040', origin: 'http://LOCALHOST:4040' }), true)
    assert.equal(trusted({ origin: 'https://localhost:4040' }, '127.0.0.1', 'https://localhost:4040'), true)
    const strangers = [
      'null',
      '',
      'https://localhost:4040',
      'http://localhost',
      'http://localhost:3000',
      'http://example.org',
    ]
    const oddOnes = [
      'http://localhost:4040/',
      'http://localhost:4040.example.org',
      'http://localhost:4040, http://example.org',
      'localhost:4040',
    ]
    for (const origin of [...strangers, ...oddOnes]) assert.equal(trusted({ origin }), false, origin)
  })

  test('a page of another server on this machine is not us, even through a host that names it', () => {
    assert.equal(trusted({ host: 'localhost:3000', origin: 'http://localhost:3000' }), false)
  })

  test('a server on the default port knows its origin without the port', () => {
    const at80 = (headers: Record<string, string>) => trusted(headers, '127.0.0.1', 'http://localhost')
    assert.equal(at80({ host: '127.0.0.1', origin: 'http://127.0.0.1' }), true)
    assert.equal(at80({ host: '127.0.0.1:80', origin: 'http://127.0.0.1' }), false)
    assert.equal(trusted({ host: 'localhost', origin: 'http://localhost' }, '127.0.0.1', 'http://localhost:443'), false)
  })

  test('no text is taken for a loopback name by accident', () => {
    fc.assert(
      fc.property(fc.webAuthority(), (host) => {
        const name = host.replace(/^.*@/, '').replace(/:\d*$/, '').toLowerCase()
        const isLoopback =
          name === '[::1]' || name === 'localhost' || name.endsWith('.localhost') || /^127(\.\d+){3}$/.test(name)
        if (!isLoopback) assert.equal(isLoopbackHost(host), false)
      }),
    )
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        assert.equal(isLoopbackAddress(address), address.startsWith('127.'))
      }),
    )
  })
})
