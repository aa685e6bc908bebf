import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import { createDatabase } from '../support/postgres-database.ts'
import { startServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { client } from '../support/test-client.ts'
import { hasEnded } from './mini-clone.ts'

const noPostgres = postgresUnavailable()

for (const engine of ['sqlite', 'postgres'] as const) {
  const skip = engine === 'postgres' && noPostgres !== null && `PostgreSQL: ${noPostgres}`
  test(`the real server, with nothing there, answers on a free port, stops when asked, and starts again on its data (${engine})`, {
    skip,
  }, async () => {
    const empty = engine === 'postgres' ? (await createDatabase({ migrated: false })).url : undefined
    await using first = await startServer({ databaseUrl: empty, mode: 'serve' })
    await client(first, 'none').get('/readyz', 200)
    assert.deepEqual(await first.stop(), { status: 0, signal: null })
    const { dataDir, databaseUrl } = first
    await using second = await startServer({ mode: 'dev', dataDir, databaseUrl: databaseUrl ?? undefined })
    await client(second).get('/readyz', 200)
    assert.deepEqual(await second.kill(), { status: null, signal: 'SIGKILL' })
  })
}

test('a call that answers otherwise than expected fails with the answer in sight', async () => {
  await using server = await startServer()
  await assert.rejects(client(server).get('/livez', 404), /GET \/livez answered 200: \{"status":/)
})

test('both addresses of a server on IPv6 are written so that they can be used', async (context) => {
  const probe = createServer().listen(0, '::1')
  const hasIpv6 = await once(probe, 'listening').then(
    () => true,
    () => false,
  )
  probe.close()
  if (!hasIpv6) return context.skip('this machine has no IPv6')
  await using server = await startServer({ env: { COMMONPLACE_HOST: '::1' } })
  assert.match(server.url, /^http:\/\/\[::1\]:\d+$/)
  assert.match(server.grpcUrl, /^http:\/\/\[::1\]:\d+$/)
})

test('a server that cannot start fails with what it said', async () => {
  await assert.rejects(startServer({ args: ['--no-such-flag'] }), /ended with status 2 .*\n.*--no-such-flag/s)
})

test('a server does not outlive a test process that was killed', async () => {
  const program = `
    const { startServer } = await import(${JSON.stringify(new URL('../support/start-server.ts', import.meta.url).href)})
    console.log((await startServer()).pid)
    setInterval(() => {}, 1000)`
  // It cannot remove its own folders.
  const env = { ...process.env, TMPDIR: tempDir() }
  const testProcess = spawn(process.execPath, ['--input-type=module', '--eval', program], { env })
  const [pid] = await once(testProcess.stdout, 'data')
  testProcess.kill('SIGKILL')
  await hasEnded(Number(pid))
})
