import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintAccessToken } from '../../src/platform/auth/secrets.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { startBehindProxy } from '../support/start-behind-proxy.ts'

const unavailable = postgresUnavailable()
const AT = '/namespaces/default/callbacks/c'
const BODY = JSON.stringify({ identity: 'me', callback: { nexus: { url: 'https://hooks.example.org' } } })

test('a caller that said how long it waits is answered in time, also when its credentials cannot be looked up', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, async () => {
  await using behind = await startBehindProxy()
  const { server } = behind
  behind.fallSilent()
  const calls = [
    ['GET', AT, { 'request-timeout': '200ms' }],
    ['POST', AT, { 'grpc-timeout': '200m' }],
    ['GET', `${AT}/outcome`, { 'request-timeout': '200ms' }],
    ['GET', '/namespaces', { 'request-timeout': '200ms' }],
    ['GET', '/namespaces/default', { 'request-timeout': '200ms' }],
  ] as const
  await Promise.all(
    calls.map(async ([method, path, timeout]) => {
      // Nobody has seen these before, so they have to be looked up.
      const headers = {
        ...timeout,
        authorization: `Bearer ${mintAccessToken().plain}`,
        'content-type': 'application/json',
      }
      const answer = await fetch(server.url + path, { method, headers, body: method === 'POST' ? BODY : null })
      const { code } = (await answer.json()) as { code: number }
      assert.deepEqual([answer.status, code], [504, 4], `${method} ${path}`)
    }),
  )
  // One that cannot be read is no time: that is said to whoever may ask.
  const malformed = await fetch(server.url + AT, { headers: { 'request-timeout': 'soon' } })
  assert.equal(malformed.status, 401)
  await server.stop()
})
