import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { spend } from '../../../src/platform/http/entry/spend.ts'
import { operation } from '../../../src/platform/http/operation.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startPlatform } from './platform-server.ts'

const INSTANCE_RULES = [
  { bucket: 'anonymous', per: 'anonymous' },
  { bucket: 'token', per: 'credential' },
  { bucket: 'user', per: 'user' },
] as const

function routes(server: FastifyInstance): void {
  const common = { summary: 'Test', schema: { response: { 200: Type.Object({}) } }, handler: async () => ({}) } as const
  operation(server, {
    ...common,
    method: 'GET',
    url: '/api/v2/users',
    operationId: 'ListUsers',
    surface: 'users',
    access: 'user_access_read',
    rateLimit: 'users_read',
  })
  operation(server, {
    ...common,
    method: 'GET',
    url: '/api/v1/instance',
    operationId: 'GetInstance',
    surface: 'instance',
    access: 'optional',
    rateLimit: INSTANCE_RULES,
  })
  operation(server, {
    ...common,
    method: 'POST',
    url: '/api/v2/user_invitations',
    operationId: 'Invite',
    surface: 'users',
    access: 'signed_in',
    rateLimit: null,
    schema: { body: Type.Object({ data: Type.Array(Type.Unknown()) }), response: { 200: Type.Object({}) } },
    async handler(request, reply) {
      await spend(request, reply, { bucket: 'invitations', per: 'owner', cost: request.body.data.length })
      return {}
    },
  })
}

const admin = { headers: { authorization: 'Bearer admin' } }

function limitsOf(response: Response): Record<string, string> {
  const names = [...response.headers.keys()].filter((name) => name.startsWith('x-ratelimit') || name === 'retry-after')
  return Object.fromEntries(names.map((name) => [name, response.headers.get(name) as string]))
}

test('the users style counts seconds, names the bucket, and says when to retry', async () => {
  const clock = new FakeClock('2030-01-01T00:00:15Z')
  const buckets = { users_read: { limit: 2, period: 60_000 } }
  await using platform = await startPlatform({ routes, buckets, clock })
  const get = (init?: RequestInit) => fetch(`${platform.url}/api/v2/users`, init)
  const common = {
    'x-ratelimit-limit': '2',
    'x-ratelimit-period': '60',
    'x-ratelimit-name': 'users_read',
    'x-ratelimit-reset': '45',
  }
  assert.deepEqual(limitsOf(await get(admin)), { ...common, 'x-ratelimit-remaining': '1' })
  assert.deepEqual(limitsOf(await get({ ...admin, method: 'HEAD' })), { ...common, 'x-ratelimit-remaining': '0' })
  const refused = await get(admin)
  assert.deepEqual(
    [refused.status, await refused.json()],
    [429, { errors: ['Rate limit exceeded, retry in 45 seconds'] }],
  )
  assert.deepEqual(limitsOf(refused), { ...common, 'x-ratelimit-remaining': '0', 'retry-after': '45' })
  assert.equal((await get()).status, 401, 'credentials are judged before the limit')
  await clock.advance(45_000)
  assert.equal((await get(admin)).status, 200)
})

test('the instance style gives the time of the reset, counts errors too, and describes the tightest limit', async () => {
  const clock = new FakeClock('2030-01-01T00:01:00Z')
  const period = 300_000
  const buckets = { anonymous: { limit: 3, period }, token: { limit: 300, period }, user: { limit: 200, period } }
  await using platform = await startPlatform({ routes, buckets, clock })
  const call = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${platform.url}/api/v1/${path}`, init)
    return [response.status, response.headers.get('x-ratelimit-limit'), response.headers.get('x-ratelimit-remaining')]
  }
  assert.deepEqual(await call('instance', admin), [200, '200', '199'])
  assert.deepEqual(await call('instance'), [200, '3', '2'])
  assert.deepEqual(await call('instance', { method: 'DELETE' }), [405, '3', '1'])
  const preflight = { method: 'OPTIONS', headers: { 'access-control-request-method': 'GET' } }
  assert.deepEqual(await call('instance', preflight), [204, null, null])
  assert.deepEqual(await call('instance'), [200, '3', '0'])
  const refused = await fetch(`${platform.url}/api/v1/instance`)
  assert.deepEqual([refused.status, await refused.json()], [429, { error: 'Too many requests' }])
  assert.equal(refused.headers.get('x-ratelimit-reset'), '2030-01-01T00:05:00.000000Z')
  assert.equal(refused.headers.get('retry-after'), '240')
  assert.equal(refused.headers.get('access-control-allow-origin'), '*')
})

test('unknown paths of a surface are counted where that is asked for', async () => {
  const buckets = { anonymous: { limit: 1, period: 60_000 } }
  const unknownRouteLimits = (path: string) => (path.startsWith('/api/v1/') ? INSTANCE_RULES : [])
  await using platform = await startPlatform({ routes, buckets, unknownRouteLimits })
  const status = async (path: string) => (await fetch(platform.url + path)).status
  assert.deepEqual([await status('/api/v1/nothing'), await status('/api/v1/nothing')], [404, 429])
  assert.deepEqual([await status('/v2/nothing'), await status('/v2/nothing')], [404, 404])
})

test('a handler counts what only it can count', async () => {
  await using platform = await startPlatform({ routes, buckets: { invitations: { limit: 3, period: 60_000 } } })
  const invite = async (entries: number) => {
    const headers = { ...admin.headers, 'content-type': 'application/json' }
    const body = JSON.stringify({ data: new Array(entries).fill({}) })
    const response = await fetch(`${platform.url}/api/v2/user_invitations`, { method: 'POST', headers, body })
    return [response.status, response.headers.get('x-ratelimit-remaining')]
  }
  assert.deepEqual(await invite(2), [200, '1'])
  assert.deepEqual(await invite(2), [429, '1'])
  assert.deepEqual(await invite(1), [200, '0'])
})

test('where limits are off, their headers are absent', async () => {
  await using platform = await startPlatform({ routes, buckets: { users_read: { limit: 0, period: 60_000 } } })
  assert.deepEqual(limitsOf(await fetch(`${platform.url}/api/v2/users`, admin)), {})
  assert.deepEqual(limitsOf(await fetch(`${platform.url}/api/v1/instance`)), {})
})

test('a bucket may change its size, or go away, while the server runs', async () => {
  let limit = 1
  const route = (server: FastifyInstance) =>
    operation(server, {
      method: 'GET',
      url: '/api/v1/instance',
      operationId: 'GetInstance',
      summary: 'Test',
      surface: 'instance',
      access: 'bearer',
      rateLimit: [{ bucket: 'live', per: 'anonymous', size: () => ({ limit, period: 60_000 }) }],
      schema: { response: { 200: Type.Object({}) } },
      handler: async () => ({}),
    })
  await using platform = await startPlatform({ routes: route, clock: new FakeClock() })
  const call = async () => {
    const response = await fetch(`${platform.url}/api/v1/instance`)
    return [response.status, response.headers.get('x-ratelimit-limit')]
  }
  assert.deepEqual([await call(), await call()], [[200, '1'], [429, '1']]) // biome-ignore format: two calls
  limit = 3
  assert.deepEqual([await call(), await call()], [[200, '3'], [200, '3']]) // biome-ignore format: two calls
  limit = 0
  assert.deepEqual(await call(), [200, null])
})
