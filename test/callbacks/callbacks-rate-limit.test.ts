import assert from 'node:assert/strict'
import { test } from 'node:test'
import { messageScope } from '../../src/callbacks/http/message-operation.ts'
import { callbackRoutes } from '../../src/callbacks/run/routes-callbacks.ts'
import { startPlatform } from '../api/platform/platform-server.ts'
import { eachDatabase } from '../support/each-database.ts'
import { client } from '../support/test-client.ts'
import { errorOf } from './callbacks-api.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { runServiceOver } from './run-service-world.ts'

const LIMITED = `  namespaces:
    few: { rate_limit: { limit: 2, period: 60s } }
    more: { rate_limit: { limit: 3, period: 60s } }
    often: { rate_limit: { limit: 2, period: 1s } }
`

eachDatabase('the limit of requests to a namespace', (context) => {
  test('counts every operation and every caller together, and says when to come again', async () => {
    await using world = await DeliveryWorld.open(await context.open(), LIMITED)
    const { runs } = runServiceOver(world)
    const { clock, namespaces, operator } = world.namespace
    for (const name of ['few', 'more', 'often']) await namespaces.create(operator, { name })
    await using platform = await startPlatform({
      clock,
      routes: (server) => messageScope(server, (scope) => callbackRoutes(scope, runs)),
    })
    const api = client({ url: platform.url, adminToken: 'admin' })
    const list = (namespace: string, status: number) => api.get(`/namespaces/${namespace}/callbacks`, status)
    // The world begins at the beginning of a minute.
    await clock.advance(15_000)
    await list('few', 200)
    await api.get('/namespaces/few/callback-count', 200)
    for (const call of [
      () => list('few', 429),
      () => api.post('/namespaces/few/callbacks/x', 429, { body: {} }),
      () => api.get('/namespaces/few/callbacks/x', 429),
      () => api.get('/namespaces/few/callbacks/x/outcome', 429),
      () => api.post('/namespaces/few/callbacks/x/terminate', 429),
      () => api.delete('/namespaces/few/callbacks/x', 429),
    ]) {
      const answer = await call()
      assert.equal(errorOf(answer).code, 8)
      assert.equal(answer.headers.get('retry-after'), '45')
      assert.equal(answer.headers.get('x-ratelimit-limit'), '2')
    }
    for (let n = 0; n < 3; n++) await list('more', 200)
    await list('more', 429)
    await list('often', 200)
    await list('often', 200)
    await list('often', 429)
    for (let n = 0; n < 10; n++) await list('default', 200)
    await clock.advance(1_000)
    await list('often', 200)
    await list('few', 429)
    await clock.advance(44_000)
    await list('few', 200)
  })

  test('comes after the permission and before everything else', async () => {
    await using world = await DeliveryWorld.open(await context.open(), '  rate_limit: { limit: 1, period: 60s }\n')
    const { runs } = runServiceOver(world)
    await using platform = await startPlatform({
      clock: world.namespace.clock,
      routes: (server) => messageScope(server, (scope) => callbackRoutes(scope, runs)),
    })
    const api = client({ url: platform.url, adminToken: 'admin' })
    const reader = api.as({ token: 'reader' })
    for (let n = 0; n < 3; n++) errorOf(await reader.get('/namespaces/default/callbacks', 403))
    errorOf(await api.get('/namespaces/default/callbacks?query=nonsense', 400))
    errorOf(await api.get('/namespaces/default/callbacks?query=nonsense', 429))
    // Names that are made up share one counter.
    errorOf(await api.get('/namespaces/nowhere/callbacks', 404))
    errorOf(await api.get('/namespaces/elsewhere/callbacks', 429))
  })
})
