import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { DeliveryWorld } from './delivery-world.ts'

const isClosed = ({ closedAt }: { closedAt: number | null }) => closedAt !== null

function nameDestination(db: Database, id: number, destination: string): Promise<unknown> {
  return db.write((tx) =>
    tx.query.updateTable('callback_destinations').set({ destination }).where('id', '=', id).execute(),
  )
}

eachDatabase('delivery after setbacks', (context) => {
  test('a destination that cannot be read stops no other one, and is delivered to once it can', async () => {
    await using broken = await startReceiver()
    await using well = await startReceiver()
    const db = await context.open()
    await using world = await DeliveryWorld.open(db)
    await world.start('broken', broken.url)
    await world.start('well', well.url)
    const { destinationId } = await world.find('broken')
    await nameDestination(db, destinationId, 'no address')
    await using later = await world.another(await context.openAgain(db))
    later.run()
    await later.until('well', isClosed)
    later.runtime.dispatcher.tryNow(await later.find('broken'))
    await later.start('well-2', well.url)
    await later.until('well-2', isClosed)
    await nameDestination(db, destinationId, broken.url)
    await later.passUntil('broken', isClosed)
    assert.equal(broken.requests.all.length, 1)
  })
})
