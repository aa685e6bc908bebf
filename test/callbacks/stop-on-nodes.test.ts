import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import {
  DeleteCallbackExecutionRequestSchema,
  TerminateCallbackExecutionRequestSchema,
} from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { eachDatabase } from '../support/each-database.ts'
import { socketClosed, startReceiver } from '../support/receivers/receiver.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { runServiceOver } from './run-service-world.ts'

eachDatabase('a request in flight', (context) => {
  for (const end of ['terminated', 'deleted'] as const) {
    test(`is broken off when its run is ${end}, whichever process is asked`, async () => {
      await using receiver = await startReceiver({ answer: null })
      const db = await context.open()
      await using sender = await DeliveryWorld.open(db)
      // One SQLite file has one server, so there it is the same one.
      await using asked = await sender.another(context.engine === 'sqlite' ? db : await context.openAgain(db))
      sender.run()
      await sender.start('c', receiver.url)
      await receiver.requests.next()
      const { runs, call } = runServiceOver(context.engine === 'sqlite' ? sender : asked)
      const named = { namespace: 'default', callbackId: 'c', identity: 'test' }
      if (end === 'terminated') await runs.terminate(create(TerminateCallbackExecutionRequestSchema, named), call())
      else await runs.delete(create(DeleteCallbackExecutionRequestSchema, named), call())
      await Promise.all([...receiver.open].map(socketClosed))
      assert.equal(receiver.requests.all.length, 1)
    })
  }

  test('of another run goes on', async () => {
    await using receiver = await startReceiver({ answer: null })
    await using world = await DeliveryWorld.open(await context.open())
    world.run()
    await world.start('ended', receiver.url)
    await receiver.requests.next()
    const [socket] = receiver.open
    await world.start('other', receiver.url)
    await receiver.requests.next()
    const { runs, call } = runServiceOver(world)
    const named = { namespace: 'default', callbackId: 'ended', identity: 'test' }
    await runs.terminate(create(TerminateCallbackExecutionRequestSchema, named), call())
    await socketClosed(socket as NonNullable<typeof socket>)
    assert.equal(receiver.open.size, 1)
  })
})
