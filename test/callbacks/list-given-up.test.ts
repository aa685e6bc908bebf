import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { StartBulkReplayRequestSchema } from '../../src/gen/commonplace/callbacks/v1/callbacks_pb.js'
import {
  CountCallbackExecutionsRequestSchema,
  ListCallbackExecutionsRequestSchema,
} from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { AppError } from '../../src/platform/errors/app-error.ts'
import { eachDatabase } from '../support/each-database.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { ReplayWorld } from './replay-world.ts'
import { runServiceOver } from './run-service-world.ts'

// So long that SQLite is asked for a few dozen runs at a time.
const wish = { namespace: 'default', query: Array(600).fill("RunId>'0'").join(' AND ') }

eachDatabase('a query whose caller has gone', ({ open, engine }) => {
  test('is not asked to its end: SQLite stops after some runs', async () => {
    await using world = await DeliveryWorld.open(await open())
    await using bulk = new ReplayWorld(world)
    const { runs, call } = runServiceOver(world)
    for (let n = 0; n < 40; n++) await world.start(`c-${n}`, 'http://127.0.0.1:9/hook')
    const gone = new AppError('canceled', 'The caller went away')
    const ask = (also?: Parameters<typeof call>[0]) => [
      runs.list(create(ListCallbackExecutionsRequestSchema, wish), call(also)),
      runs.count(create(CountCallbackExecutionsRequestSchema, wish), call(also)),
      bulk.replays.startBulk(create(StartBulkReplayRequestSchema, { ...wish, dryRun: true }), call(also)),
    ]
    const given = await Promise.allSettled(ask({ closed: AbortSignal.abort(gone) }))
    // PostgreSQL has no parts: it is asked once.
    if (engine === 'sqlite') assert.deepEqual(given, Array(3).fill({ status: 'rejected', reason: gone }))
    else for (const { status } of given) assert.equal(status, 'fulfilled')
    assert.equal((await Promise.all(ask())).length, 3)
  })
})
