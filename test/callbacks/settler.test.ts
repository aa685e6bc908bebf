import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Settler } from '../../src/callbacks/deliver/settler.ts'
import type { Settled } from '../../src/callbacks/deliver/write-in-parts.ts'
import type { Settlement } from '../../src/callbacks/run/run.ts'
import { applyEvent } from '../../src/callbacks/state/apply-event.ts'
import { startRun } from '../../src/callbacks/state/run-record.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { type Id, newId } from '../../src/platform/ids/uuid.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openOver } from '../store/storage-disk.ts'
import { HastyClock } from '../support/hasty-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'

const clock = new SystemClock()
const log = silentLogger()
const opened: Database[] = []
after(() => Promise.all(opened.map((db) => db.close())))

test('while the disk takes no results no more are to be made, and they go on as soon as it does', async () => {
  let disk = Promise.resolve()
  const db = await openOver(opened, () => disk)
  await migrate(db, { clock, log })
  const { promise: caughtUp, resolve } = Promise.withResolvers<void>()
  const settler = new Settler({ db, clock, log, onCaughtUp: resolve })
  const { promise: stuck, resolve: release } = Promise.withResolvers<void>()
  disk = stuck
  const results: Promise<Settled>[] = []
  while (!settler.isBehind) {
    assert.ok(results.length < 10_000)
    results.push(settler.settle(successOf(results.length)))
  }
  release()
  await caughtUp
  assert.equal(settler.isBehind, false)
  assert.deepEqual(new Set(await Promise.all(results)), new Set(['lost']))
})

test('a disk that takes no results is told once, however often they are tried, and once more when it takes them', async () => {
  let tries = 0
  const sync = async () => {
    if (++tries <= 3) throw new Error('disk I/O error')
  }
  let disk = async () => {}
  const db = await openOver(opened, () => disk())
  await migrate(db, { clock, log })
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line).msg) }
  const told = createLogger({ level: 'info', format: 'json', destination })
  const settler = new Settler({ db, clock: new HastyClock(), log: told, onCaughtUp: () => {} })
  disk = sync
  assert.equal(await settler.settle(successOf(1)), 'lost')
  assert.ok(tries > 3)
  const [first, last] = [
    'results of attempts cannot be stored; trying again until that works',
    'results of attempts are stored again',
  ]
  assert.deepEqual(lines, [first, last])
})

/** Of a run that is gone. */
function successOf(runNumber: number): Settlement {
  const record = startRun({ timeoutMicros: null, startDelayMicros: 0, retryPolicy: null }, 1)
  const event = { kind: 'attempt_succeeded', tag: 0 } as const
  const retry = { initialMicros: 1, maximumMicros: 1, coefficient: 2, maximumAttempts: 0, jitter: 0 }
  const changed = applyEvent(record, event, { now: 2, retry, chance: 0 })
  assert.equal(changed.kind, 'changed')
  const names = { namespaceId: newId() as Id<'Namespace'>, callbackId: 'c', runId: newId(), requestId: newId() }
  const run = { runNumber, ...names, destinationId: 1, timeoutMicros: null, record }
  return { run, changed, dueAt: null, leaseOwner: null, attempt: null }
}
