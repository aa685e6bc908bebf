import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NamespaceId } from '../../src/callbacks/namespace/namespace.ts'
import type { ActiveNamespace } from '../../src/callbacks/namespace/namespace-policies.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { type DatabaseContext, eachDatabase } from '../support/each-database.ts'
import { somebodyWaits } from '../support/somebody-waits.ts'
import { DeliveryWorld } from './delivery-world.ts'
import { startIn } from './store-world.ts'

const URL = 'http://127.0.0.1:9/'
const ROUNDS = 10

async function made(world: DeliveryWorld, name: string): Promise<ActiveNamespace> {
  const { namespaces, operator, policies } = world.namespace
  await namespaces.create(operator, { name })
  const found = await policies.find(name)
  assert.ok(found)
  return found
}

function deletion({ namespace: { namespaces, operator } }: DeliveryWorld, name: string): Promise<void> {
  return namespaces.delete(operator, { name })
}

async function runsIn(db: Database, namespaceId: NamespaceId): Promise<number> {
  const runs = db.query.selectFrom('callback_runs').select('run_id').where('namespace_id', '=', namespaceId)
  return (await runs.execute()).length
}

/** Two processes; one SQLite file has one server, so there they are the same. */
async function twoNodes({ engine, open, openAgain }: DatabaseContext): Promise<[DeliveryWorld, DeliveryWorld]> {
  const one = await DeliveryWorld.open(await open())
  return [one, engine === 'sqlite' ? one : await one.another(await openAgain(one.db))]
}

eachDatabase('a start in a namespace that is being deleted', (context) => {
  test('is told that there is none, by a process that has not heard of the deletion yet', async () => {
    const [deleter, starter] = await twoNodes(context)
    await using _one = deleter
    await using _other = starter
    const remembered = await made(starter, 'doomed')
    await deletion(deleter, 'doomed')
    await assert.rejects(starter.start('c', URL, { namespace: remembered }), {
      code: 'not_found',
      message: /namespace.*doomed/i,
    })
    assert.equal(await runsIn(deleter.db, remembered.id), 0)
    const destinations = deleter.db.query.selectFrom('callback_destinations').select('id')
    assert.deepEqual(await destinations.execute(), [])
  })

  test('either happens, and then the namespace stays, or not at all', async () => {
    const [deleter, starter] = await twoNodes(context)
    await using _one = deleter
    await using _other = starter
    for (let round = 0; round < ROUNDS; round++) {
      const namespace = await made(starter, `doomed-${round}`)
      const [started, deleted] = await Promise.allSettled([
        starter.start('c', URL, { namespace }),
        deletion(deleter, namespace.name),
      ])
      assert.notEqual(started.status, deleted.status)
      const refused = started.status === 'rejected' ? started : deleted
      assert.ok(refused.status === 'rejected')
      assert.equal(refused.reason.code, refused === started ? 'not_found' : 'failed_precondition')
      assert.equal(await runsIn(starter.db, namespace.id), refused === started ? 0 : 1)
    }
  })

  if (context.engine === 'postgres') {
    test('is waited for when it was there first, and the deletion is refused then', async () => {
      const [deleter, starter] = await twoNodes(context)
      await using _one = deleter
      await using _other = starter
      const { id: namespaceId } = await made(starter, 'busy')
      const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
      const { promise: began, resolve: begin } = Promise.withResolvers<void>()
      const start = starter.db.write(
        async (tx) => {
          await startIn(tx, { namespaceId })
          begin()
          await mayEnd
        },
        { isolation: 'read committed' },
      )
      await began
      const deleted = deletion(deleter, 'busy').then(
        () => null,
        (error: { code: string }) => error,
      )
      await Promise.race([deleted, somebodyWaits(starter.db)])
      end()
      await start
      assert.equal((await deleted)?.code, 'failed_precondition')
    })
  }
})
