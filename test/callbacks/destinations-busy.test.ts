import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { sql } from 'kysely'
import { DestinationService } from '../../src/callbacks/destination/destination-service.ts'
import { findDestination } from '../../src/callbacks/destination/store-destinations.ts'
import { UpdateDestinationRequestSchema } from '../../src/gen/commonplace/callbacks/v1/callbacks_pb.js'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { runServiceOver } from './run-service-world.ts'
import { SHARED } from './store-world.ts'

// So many at a time that somebody is always writing, as where several processes store results.
const WRITERS = 4

eachDatabase('a destination whose results are stored all the time', (context) => {
  test('is paused all the same', async () => {
    await using receiver = await startReceiver()
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    world.run()
    await world.start('c', receiver.url)
    await world.until('c', ({ state }) => state === 'SUCCEEDED')
    const { destinationId } = await world.find('c')
    const { clock } = world.namespace
    const { gate, call } = runServiceOver(world)
    const destinations = new DestinationService({ db, clock, gate, ...world.runtime })
    // One SQLite file has one server.
    const others = context.engine === 'sqlite' ? db : await context.openAgain(db, { poolSize: WRITERS })
    const busy = keepWriting(others, destinationId)
    await busy.begun
    const { paused } = await destinations.update(
      create(UpdateDestinationRequestSchema, { namespace: 'default', destination: receiver.url, paused: true }),
      call(),
    )
    await busy.stop()
    assert.equal(paused, true)
    assert.equal((await findDestination(db, destinationId))?.isPaused, true)
  })
})

function keepWriting(db: Database, destinationId: number) {
  let isOver = false
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const writers = Array.from({ length: WRITERS }, async () => {
    while (!isOver) {
      await db.write(async ({ query }) => {
        const news = { last_success_at: sql<number>`last_success_at + 1` }
        await query.updateTable('callback_destinations').set(news).where('id', '=', destinationId).execute()
      }, SHARED)
      resolve()
    }
  })
  return {
    begun,
    async stop() {
      isOver = true
      await Promise.all(writers)
    },
  }
}
