import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresUnavailable } from '../../support/postgres.ts'
import { startBehindProxy } from '../../support/start-behind-proxy.ts'

const unavailable = postgresUnavailable()

test('a server whose PostgreSQL falls silent says that it is not ready, and can be stopped', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, async () => {
  await using behind = await startBehindProxy()
  const { server } = behind
  const probe = async () => {
    const answer = await fetch(`${server.url}/readyz`)
    return [answer.status, await answer.json()]
  }
  assert.deepEqual(await probe(), [200, { status: 'ready' }])
  behind.fallSilent()
  // An answer from just before may still stand for a moment; how many probes fit into it depends on the machine.
  let answer = await probe()
  while (answer[0] === 200) answer = await probe()
  assert.deepEqual(answer, [503, { status: 'not ready: storage does not answer' }])
  assert.deepEqual(await server.stop(), { status: 0, signal: null })
})
