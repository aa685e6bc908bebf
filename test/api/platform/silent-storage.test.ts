import assert from 'node:assert/strict'
import { test } from 'node:test'
import { postgresUnavailable } from '../../support/postgres.ts'
import { createDatabase } from '../../support/postgres-database.ts'
import { startServer } from '../../support/start-server.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'

const unavailable = postgresUnavailable()

test('a server whose PostgreSQL falls silent says that it is not ready, and can be stopped', {
  skip: unavailable !== null && `PostgreSQL: ${unavailable}`,
}, async () => {
  const database = await createDatabase({ migrated: true })
  await using proxy = await startTcpProxy(database.url)
  await using server = await startServer({
    mode: 'serve',
    databaseUrl: proxy.url,
    env: { COMMONPLACE_SERVER__SHUTDOWN_TIMEOUT: '1s' },
  })
  const probe = async () => {
    const answer = await fetch(`${server.url}/readyz`)
    return [answer.status, await answer.json()]
  }
  assert.deepEqual(await probe(), [200, { status: 'ready' }])
  proxy.fallSilent()
  // An answer from just before may still stand for a moment; how many probes fit into it depends on the machine.
  let answer = await probe()
  while (answer[0] === 200) answer = await probe()
  assert.deepEqual(answer, [503, { status: 'not ready: storage does not answer' }])
  assert.deepEqual(await server.stop(), { status: 0, signal: null })
  await database.drop()
})
