import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { socketClosed, startReceiver } from '../support/receivers/receiver.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { client } from '../support/test-client.ts'
import { closedRuns, progressOf, runsById, startBulk, untilDone } from './bulk-replay-api.ts'
import { CallbacksApi } from './callbacks-api.ts'

const RUNS = 750

const ENDS = ['kill', 'stop', 'kill', 'kill'] as const

for (const engine of ['sqlite', 'postgres'] as const) {
  const skip = engine === 'postgres' && postgresUnavailable() !== null
  describe(`a bulk replay on a server that ends in the middle (${engine})`, { skip }, () => {
    test('goes on after each start, and starts no run twice', { timeout: 150_000 }, async (t) => {
      let status = 400
      await using receiver = await startReceiver({ answer: () => ({ status }) })
      await using callbacks = await CallbacksApi.start({ engine })
      const ids = Array.from({ length: RUNS }, (_, n) => `c-${n}`)
      await closedRuns(callbacks, ids, { callback: { nexus: { url: receiver.url } } })
      await receiver.requests.take(RUNS)
      status = 200
      const { body } = await startBulk(callbacks, { query: '', requestId: 'all of them' })
      assert.equal(body.matched, RUNS)

      let server: TestServer = callbacks.server
      let now = { api: client(server), base: callbacks.base }
      const at: number[] = []
      let read = RUNS
      for (const end of ENDS) {
        const unread = receiver.requests.all.length - read
        if ((await progressOf(now, body.jobId)).done) break
        // There is a batch to come, and what it starts arrives after what is here already.
        await receiver.requests.take(unread + 1)
        read += unread + 1
        await server[end]()
        await Promise.all([...receiver.open].map(socketClosed))
        const { dataDir, databaseUrl } = server
        if (databaseUrl !== null) await leasesEnd(databaseUrl)
        server = await startServer({ dataDir, ...(databaseUrl !== null && { databaseUrl }) })
        now = { api: client(server), base: callbacks.base }
        at.push((await progressOf(now, body.jobId)).started)
      }
      // Each new run arrives once at least: only then the job is worth asking for.
      const arrived = new Set(receiver.requests.all.slice(RUNS, read).map(({ headers }) => headers['webhook-id']))
      while (arrived.size < RUNS) arrived.add((await receiver.requests.next()).headers['webhook-id'])
      const progress = await untilDone(now, body.jobId)
      assert.deepEqual(progress, { matched: RUNS, started: RUNS, failed: 0, done: true })
      t.diagnostic(`started at each end: ${at.join(', ')}`)
      assert.ok((at[0] as number) < RUNS, 'it was done before the first end')
      const runs = await runsById(now)
      assert.equal(runs.size, RUNS)
      assert.deepEqual(
        [...runs.values()].filter((count) => count !== 2),
        [],
      )
      const again = await now.api.post(`${now.base}/callback-replays`, 200, {
        body: { query: '', requestId: 'all of them' },
      })
      assert.deepEqual(again.body, body)
      await server.stop()
    })
  })
}

/** As if half a minute had passed: until then a process that was killed keeps what it had taken on PostgreSQL. */
async function leasesEnd(databaseUrl: string): Promise<void> {
  const place = { dataDir: tempDir(), databaseUrl }
  await using db = await openDatabase({ ...place, clock: new SystemClock(), log: silentLogger() })
  await db.write(async ({ query }) => {
    await query.updateTable('jobs').set({ lease_until: 1 }).where('state', '=', 'running').execute()
    await query
      .updateTable('callback_runs')
      .set(({ ref }) => ({ due_at: ref('created_at') }))
      .where('lease_owner', 'is not', null)
      .execute()
  })
}
