import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { startServer, type TestServer } from '../support/start-server.ts'

// The one operation of the platform that asks for a permission: the numbers are for administrators.
const GUARDED = '/metrics'

/** Not `fetch`: it forbids `Host` and `Origin`, which are what some of these tests are about. */
function statusOf(
  server: TestServer,
  headers: Record<string, string> = {},
  path = GUARDED,
): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  const call = request({ host: '127.0.0.1', port: server.port, path, headers, agent: false }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode))
  })
  call.on('error', reject).end()
  return promise
}

describe('a server in production', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'serve' })
  })
  after(() => server.stop())

  test('refuses a request without credentials, and one with half a key pair', async () => {
    assert.equal(await statusOf(server), 401)
    assert.equal(await statusOf(server, { 'DD-API-KEY': server.apiKey }), 401)
  })

  test('lets the first administrator in by token and by key pair, under both names', async () => {
    assert.equal(await statusOf(server, { authorization: `bearer ${server.adminToken}` }), 200)
    const { apiKey, applicationKey } = server
    assert.equal(await statusOf(server, { 'DD-API-KEY': apiKey, 'DD-APPLICATION-KEY': applicationKey }), 200)
    assert.equal(await statusOf(server, { 'X-Api-Key': apiKey, 'X-Application-Key': applicationKey }), 200)
  })

  test('answers every kind of bad secret alike', async () => {
    const { apiKey, applicationKey } = server
    const cookie = `commonplace_session=ses_${'a'.repeat(43)}`
    const bad: Record<string, string>[] = [
      { authorization: 'Bearer nonsense' },
      { authorization: `Bearer ${'a'.repeat(64)}` },
      { authorization: `Bearer ${'a'.repeat(8_000)}` },
      { authorization: `Bearer ${'a'.repeat(64)}`, 'x-api-key': apiKey, 'x-application-key': applicationKey },
      { 'x-api-key': apiKey, 'x-application-key': 'f'.repeat(40) },
      { cookie },
    ]
    for (const headers of bad) {
      assert.equal(await statusOf(server, headers), 403)
    }
  })

  test('never writes a secret to its log', () => {
    for (const secret of [server.adminToken, server.apiKey, server.applicationKey]) {
      assert.equal(server.output().includes(secret), false)
    }
  })
})

describe('a server in dev', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'dev' })
  })
  after(() => server.stop())

  test('takes a local request without credentials for the first administrator', async () => {
    assert.equal(await statusOf(server), 200)
    assert.equal(
      await statusOf(server, { host: `localhost:${server.port}`, origin: `http://localhost:${server.port}` }),
      200,
    )
  })

  test('does not when the request came through a proxy, for another name or from another page', async () => {
    assert.equal(await statusOf(server, { 'x-forwarded-for': '192.0.2.1' }), 401)
    assert.equal(await statusOf(server, { forwarded: 'for=192.0.2.1' }), 401)
    assert.equal(await statusOf(server, { host: 'rebound.example.org' }), 401)
    assert.equal(await statusOf(server, { origin: 'http://example.org' }), 401)
  })

  test('judges credentials when there are any', async () => {
    assert.equal(await statusOf(server, { authorization: `Bearer ${'a'.repeat(64)}` }), 403)
    assert.equal(await statusOf(server, { authorization: `Bearer ${server.adminToken}` }), 200)
  })
})
