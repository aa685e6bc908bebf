import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { DestinationService } from '../../src/callbacks/destination/destination-service.ts'
import {
  ListDestinationsRequestSchema,
  UpdateDestinationRequestSchema,
} from '../../src/gen/commonplace/callbacks/v1/callbacks_pb.js'
import { eachDatabase } from '../support/each-database.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { runServiceOver } from './run-service-world.ts'

eachDatabase('what is under way at a destination', (context) => {
  function destinationsOf(world: DeliveryWorld) {
    const { db, clock } = world.namespace
    const { gate, call } = runServiceOver(world)
    const service = new DestinationService({ db, clock, gate, ...world.runtime })
    return {
      change: (destination: string, wish: { rps?: number; paused?: boolean }) =>
        service.update(create(UpdateDestinationRequestSchema, { namespace: 'default', destination, ...wish }), call()),
      async load(destination: string) {
        const { destinations } = await service.list(
          create(ListDestinationsRequestSchema, { namespace: 'default' }),
          call(),
        )
        const shown = destinations.find((each) => each.destination === destination)
        return { waiting: shown?.waiting, inFlight: shown?.inFlight }
      },
    }
  }

  test('is what was sent, not what was taken to be sent and waits for its turn', async () => {
    await using silent = await startReceiver({ answer: null })
    await using world = await DeliveryWorld.open(await context.open())
    const destinations = destinationsOf(world)
    world.run()
    await destinations.change(silent.url, { rps: 3 })
    for (const id of ['a', 'b']) await world.start(id, silent.url)
    await silent.requests.take(2)
    await destinations.change(silent.url, { paused: true })
    for (const id of ['c', 'd', 'e', 'f']) await world.start(id, silent.url)
    await destinations.change(silent.url, { paused: false })
    // The clock stands still: no other one begins in this second.
    await silent.requests.next()
    assert.deepEqual(await destinations.load(silent.url), { waiting: 3, inFlight: 3 })
  })

  test('is that also where attempts may take less long by now than when it was sent', async () => {
    await using silent = await startReceiver({ answer: null })
    await using world = await DeliveryWorld.open(await context.open(), '  request_timeout: 1h\n')
    world.run()
    await world.start('a', silent.url)
    await silent.requests.next()
    const { namespaces, operator } = world.namespace
    await namespaces.update(operator, { name: 'default', set: { request_timeout: 1_000 } })
    assert.deepEqual(await destinationsOf(world).load(silent.url), { waiting: 0, inFlight: 1 })
    if (context.engine === 'sqlite') return
    await using other = await world.another(await context.openAgain(world.db))
    assert.deepEqual(await destinationsOf(other).load(silent.url), { waiting: 0, inFlight: 1 })
  })
})
