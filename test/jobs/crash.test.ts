import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { enqueueJob } from '../../src/platform/jobs/enqueue.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase, type Place } from '../support/each-database.ts'
import { SOURCE_FLAGS } from '../support/program.ts'
import { EXACT, LOOSE } from './crash-kinds.ts'

const WORKER = fileURLToPath(new URL('crash-worker.ts', import.meta.url))
const JOBS_PER_KIND = 150
const KILLS = 4

/** Runs the worker and kills it without warning after so many jobs began, or when the queue is empty. */
async function workUntil(place: Place, begun: number): Promise<void> {
  const child = spawn(process.execPath, [...SOURCE_FLAGS, WORKER, JSON.stringify(place)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  child.stdout.on('data', (chunk: Buffer) => {
    begun -= chunk.toString().split('.').length - 1
    if (begun <= 0 || chunk.includes('!')) child.kill('SIGKILL')
  })
  const [code, signal] = await exit
  assert.deepEqual([code, signal], [null, 'SIGKILL'])
}

async function effects(db: Database, kind: string): Promise<Map<number, number>> {
  const { rows } = await sql<{ payload: number; count: number }>`
    select payload, count(*) as count from effects where kind = ${kind} group by payload`.execute(db.query)
  return new Map(rows.map((row) => [row.payload, row.count]))
}

eachDatabase('jobs of a process that is killed', ({ open, placeOf }) => {
  it('take effect exactly once when settled with their effect, at least once otherwise', async (test) => {
    const db = await open()
    await db.write(async (tx) => {
      await sql`create table effects (kind text not null, payload integer not null)`.execute(tx.query)
    })
    await db.write(async (tx) => {
      for (let n = 0; n < JOBS_PER_KIND; n++) {
        await enqueueJob(tx, { kind: EXACT, payload: n }, 1)
        await enqueueJob(tx, { kind: LOOSE, payload: n }, 1)
      }
    })
    for (let kill = 0; kill < KILLS; kill++) {
      const begun = 1 + Math.floor(Math.random() * 60)
      test.diagnostic(`killed after ${begun} jobs`)
      await workUntil(placeOf(db), begun)
    }
    await workUntil(placeOf(db), Number.POSITIVE_INFINITY)
    const [exact, loose] = [await effects(db, 'exact'), await effects(db, 'loose')]
    for (let n = 0; n < JOBS_PER_KIND; n++) {
      assert.equal(exact.get(n), 1, `job ${n} took effect once`)
      assert.ok((loose.get(n) ?? 0) >= 1, `job ${n} took effect`)
    }
    assert.deepEqual(await db.query.selectFrom('jobs').select('id').execute(), [])
  })
})
