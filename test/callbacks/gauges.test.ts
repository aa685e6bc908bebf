import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registerGauges } from '../../src/callbacks/run/gauges.ts'
import { COUNTED_RUNS, firstDueAt, runningCounts } from '../../src/callbacks/run/store-gauges.ts'
import { createMetrics } from '../../src/platform/telemetry/metrics.ts'
import { planOf, refuseShortCuts } from '../knowledge/watched-reader.ts'
import { eachDatabase } from '../support/each-database.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { seenStatements } from './seen-statements.ts'
import { addDestinations, fillRuns } from './store-rows.ts'

const ROW = { destination: 1, state: 2, due: 100, next: null, deadline: null }

/** The lines of one gauge, without its labels' quotes. */
async function gauge(metrics: ReturnType<typeof createMetrics>, name: string): Promise<string[]> {
  const { text } = await metrics.render()
  return text.split('\n').filter((line) => line.startsWith(name))
}

eachDatabase('the gauges of callbacks', (context) => {
  async function open(yaml = '') {
    const world = await DeliveryWorld.open(await context.open(), yaml)
    const metrics = createMetrics({ process: false })
    const { db, clock } = world.namespace
    registerGauges({ db, clock, metrics, lanes: world.runtime.lanes })
    return { world, metrics, gauge: (name: string) => gauge(metrics, name) }
  }

  test('count running executions by state, and tell how late the oldest attempt is', async () => {
    const { world, gauge } = await open()
    await using _world = world
    await using receiver = await startReceiver({ answer: { status: 503 } })
    assert.deepEqual(await gauge('callback_executions_running{'), [
      'callback_executions_running{state="SCHEDULED"} 0',
      'callback_executions_running{state="BACKING_OFF"} 0',
    ])
    assert.deepEqual(await gauge('callback_oldest_overdue_attempt_seconds '), [
      'callback_oldest_overdue_attempt_seconds 0',
    ])
    for (const id of ['a', 'b', 'c']) await world.start(id, receiver.url)
    await world.start('later', receiver.url, { delaySeconds: 3_600 })
    await world.namespace.clock.advance(30_000)
    const [late] = await gauge('callback_oldest_overdue_attempt_seconds ')
    assert.equal(Math.round(Number(late?.split(' ')[1])), 30)
    world.run()
    for (const id of ['a', 'b', 'c']) await world.until(id, ({ state }) => state === 'BACKING_OFF')
    assert.deepEqual(await gauge('callback_executions_running{'), [
      'callback_executions_running{state="SCHEDULED"} 1',
      'callback_executions_running{state="BACKING_OFF"} 3',
    ])
    assert.deepEqual(await gauge('callback_oldest_overdue_attempt_seconds '), [
      'callback_oldest_overdue_attempt_seconds 0',
    ])
  })

  test('tell the breaker of each destination', async () => {
    const { world, gauge } = await open('  destination: { concurrency: 1 }\n')
    await using _world = world
    await using bad = await startReceiver({ answer: { status: 503 } })
    await using good = await startReceiver()
    world.run()
    for (let n = 0; n < 6; n++) await world.start(`c-${n}`, bad.url)
    for (let n = 0; n < 6; n++) await world.until(`c-${n}`, ({ state }) => state === 'BACKING_OFF')
    await world.start('good', good.url)
    await world.until('good', ({ closedAt }) => closedAt !== null)
    const line = (url: string, value: number) =>
      `callback_breaker_state{namespace="default",destination="${url}"} ${value}`
    assert.deepEqual(new Set(await gauge('callback_breaker_state{')), new Set([line(bad.url, 2), line(good.url, 0)]))
    const { destinationId } = await world.find('c-0')
    world.runtime.lanes.find(destinationId)?.breaker.reset()
    assert.ok((await gauge('callback_breaker_state{')).includes(line(bad.url, 0)))
  })

  test('name a thousand destinations, the worst first, and the rest together', async () => {
    const { world, gauge } = await open()
    await using _world = world
    const { namespaceId } = await world.start('x', 'http://127.0.0.1:9/').then(() => world.find('x'))
    const rows = Array.from({ length: 1_010 }, (_, n) => ({
      namespace_id: namespaceId,
      destination: `https://d${n}.example.org`,
      last_success_at: null,
      last_failure_at: null,
      last_failure_message: null,
    }))
    await world.db.write((tx) => tx.query.insertInto('callback_destinations').values(rows).execute())
    const ids = await world.db.query.selectFrom('callback_destinations').select('id').orderBy('id').execute()
    for (const { id } of ids) await world.runtime.lanes.load(id)
    const lanes = world.runtime.lanes.all()
    for (const lane of lanes.slice(-3)) {
      for (let n = 0; n < 6; n++) {
        const pass = lane.breaker.admit()
        assert.ok(pass)
        lane.breaker.settle(pass, true)
      }
    }
    const lines = await gauge('callback_breaker_state{')
    assert.equal(lines.length, 1_001)
    assert.equal(lines.filter((line) => line.endsWith('} 2')).length, 3)
    assert.equal(lines.at(-1), 'callback_breaker_state{namespace="default",destination="other"} 0')
  })

  test('are missing while storage is away, and the others are told', async () => {
    const db = await context.open()
    const world = await DeliveryWorld.open(db)
    const metrics = createMetrics({ process: false })
    registerGauges({ db, clock: world.namespace.clock, metrics, lanes: world.runtime.lanes })
    await world[Symbol.asyncDispose]()
    await db.close()
    const { text } = await metrics.render()
    assert.match(text, /# TYPE callback_breaker_state gauge/)
    assert.doesNotMatch(text, /^callback_(executions_running\{|oldest_overdue_attempt_seconds )/m)
  })

  test('stop counting at ten thousand', async () => {
    const db = await context.open()
    await addDestinations(db, 2)
    await fillRuns(db, [
      ...Array(COUNTED_RUNS + 5).fill(ROW),
      { ...ROW, state: 3, due: 70 },
      { ...ROW, destination: 2, due: 40 },
    ])
    assert.deepEqual(await runningCounts(db), { scheduled: COUNTED_RUNS, backingOff: 1 })
    assert.equal(await firstDueAt(db), 40)
  })

  test('read no table from end to end', async () => {
    const db = await context.open()
    await addDestinations(db, 20)
    const closed = { destination: 1, state: 5, due: null, next: null, deadline: null, closed: 50 }
    const rows = Array.from({ length: 200 }, (_, n) => ({ ...ROW, destination: 1 + (n % 20), state: 2 + (n % 2) }))
    await fillRuns(db, [...rows, ...Array(50).fill(closed)])
    await db.write(
      async (tx) => {
        await refuseShortCuts(tx)
        for (const each of await seenStatements(tx, async (reader) => {
          await runningCounts(reader)
          await firstDueAt(reader)
        })) {
          const plan = await planOf(tx, each)
          assert.doesNotMatch(plan, /^SCAN callback_runs\b|Seq Scan on/m, `${each.sql}\n${plan}`)
        }
      },
      { alone: true },
    )
  })
})
