import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NamespacePolicies } from '../../src/callbacks/namespace/namespace-policies.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { counted } from '../support/identity.ts'
import { anotherProcess, type NamespaceWorld, namespaceWorld } from './namespace-world.ts'

function told(db: Database): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = db.subscribe('namespaces', () => {
      unsubscribe()
      resolve()
    })
  })
}

function watched({ db, clock, cipher, settings }: NamespaceWorld) {
  const { db: proxy, statements } = counted(db)
  return { policies: new NamespacePolicies({ db: proxy, clock, cipher, settings }), statements }
}

/** A database that tells of no change. Whoever reads gets the answer when `held` is over. */
function deaf(db: Database, held: (rows: unknown[]) => Promise<void> = async () => {}): Database {
  const run: Database['run'] = async (statement, input) => {
    const rows = await db.run(statement, input)
    await held(rows)
    return rows
  }
  return { ...db, engine: db.engine, run, subscribe: () => () => {} }
}

eachDatabase('policies of namespaces', ({ engine, open, openAgain }) => {
  test('what was found once is answered from memory', async () => {
    const world = await namespaceWorld(await open())
    const { policies, statements } = watched(world)
    const first = await policies.find('default')
    const before = statements()
    for (let n = 0; n < 100; n++) {
      assert.equal(await policies.find('default'), first)
      assert.equal(policies.peek('default'), first)
    }
    assert.equal(statements(), before)
    assert.equal(await policies.find('nowhere'), null)
    assert.equal(policies.peek('nowhere'), undefined)
    policies.close()
  })

  test('that there is none is not remembered: another process may have made it, and nothing of it is heard yet', async () => {
    const world = await namespaceWorld(await open())
    const { db, clock, cipher, settings, operator, namespaces } = world
    const policies = new NamespacePolicies({ db: deaf(db), clock, cipher, settings })
    assert.equal(await policies.find('late'), null)
    const { namespace } = await namespaces.create(operator, { name: 'late' })
    assert.equal((await policies.find('late'))?.id, namespace.id)
  })

  test('who asks after a namespace was made does not share the answer of who asked before', async () => {
    const world = await namespaceWorld(await open())
    const { db, clock, cipher, settings, operator, namespaces } = world
    const { promise: wasRead, resolve: read } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const held = deaf(db, (rows) => {
      read()
      return rows.length === 0 ? released : Promise.resolve()
    })
    const policies = new NamespacePolicies({ db: held, clock, cipher, settings })
    const early = policies.find('late')
    await wasRead
    const { namespace } = await namespaces.create(operator, { name: 'late' })
    const later = policies.find('late')
    release()
    assert.equal(await early, null)
    assert.equal((await later)?.id, namespace.id)
  })

  test('those who ask for the same namespace at once share one look-up', async () => {
    const { policies, statements } = watched(await namespaceWorld(await open()))
    const before = statements()
    const answers = await Promise.all(Array.from({ length: 50 }, () => policies.find('default')))
    assert.deepEqual([statements() - before, new Set(answers).size], [1, 1])
    policies.close()
  })

  test('a change holds for the next question in this process', async () => {
    const { operator, namespaces, policies } = await namespaceWorld(await open())
    assert.equal(await policies.find('a'), null)
    const { namespace } = await namespaces.create(operator, { name: 'a', set: { max_page_size: 5 } })
    const first = await policies.find('a')
    assert.deepEqual([first?.id, first?.name, first?.policy.max_page_size], [namespace.id, 'a', 5])
    assert.equal(await policies.findById(namespace.id), first)
    // Nothing when the announcement of the change has come back meanwhile: then it is looked up again.
    assert.ok([first, undefined].includes(policies.peekById(namespace.id)))
    await namespaces.update(operator, {
      name: 'a',
      set: { allowed_private_cidrs: ['10.1.0.0/16'], denied_ports: [99] },
    })
    const second = await policies.find('a')
    assert.deepEqual(second?.targetPolicy.deniedPorts, [99])
    assert.deepEqual(
      ['10.1.2.3', '10.2.0.1'].map((address) => second?.targetPolicy.filter.isDenied(address)),
      [false, true],
    )
    await namespaces.update(operator, { name: 'a', set: { retry: { initial_interval: 2_000 } } })
    assert.equal((await policies.find('a'))?.retryPolicy.initialMicros, 2_000_000)
  })

  test('an unchanged namespace keeps its object when it is read anew', async () => {
    const { operator, namespaces, policies, clock } = await namespaceWorld(await open())
    const first = await policies.find('default')
    await clock.advance(5_000)
    assert.equal(await policies.find('default'), first)
    await namespaces.create(operator, { name: 'other' })
    assert.equal(await policies.find('default'), first)
  })

  test('a deleted namespace is gone by name at once and stays by id while something of it is left', async () => {
    const yaml = 'callbacks: { retention: 9d }'
    const { operator, namespaces, policies } = await namespaceWorld(await open(), yaml)
    const { namespace } = await namespaces.create(operator, { name: 'a', set: { max_page_size: 3 } })
    await policies.find('a')
    await namespaces.delete(operator, { name: 'a' })
    assert.equal(await policies.find('a'), null)
    const left = await policies.findById(namespace.id)
    assert.deepEqual([left?.name, left?.policy.max_page_size], ['a', 3])
    const { namespace: again } = await namespaces.create(operator, { name: 'a' })
    assert.deepEqual([(await policies.find('a'))?.id, again.id === namespace.id], [again.id, false])
  })

  test('the policy that is handed out holds no secret as text', async () => {
    const yaml = `callbacks: { signing_secrets: [whsec_${'A'.repeat(32)}] }`
    const { policies } = await namespaceWorld(await open(), yaml)
    const active = await policies.find('default')
    assert.deepEqual([active?.policy.signing_secrets, active?.signingSecrets.length], [[], 1])
    assert.equal(policies.server.signingSecrets.length, 1)
  })

  test('a namespace of more than are kept is looked up again, and is right', async () => {
    const world = await namespaceWorld(await open())
    const { policies } = world
    for (let n = 0; n < 1_200; n++) assert.equal(await policies.find(`nowhere-${n}`), null)
    assert.equal((await policies.find('default'))?.name, 'default')
  })

  if (engine === 'postgres') {
    test('another process hears of a change at once', async () => {
      const world = await namespaceWorld(await open())
      const other = await anotherProcess(world, await openAgain(world.db))
      const { operator, namespaces } = world
      // What tells of this one must not be taken for what tells of the next.
      const heardFirst = told(other.db)
      await namespaces.create(operator, { name: 'a' })
      await heardFirst
      assert.equal((await other.policies.find('a'))?.policy.max_page_size, 1_000)
      // The clock stands still: what is remembered does not grow old.
      const heard = told(other.db)
      await namespaces.update(operator, { name: 'a', set: { max_page_size: 5 } })
      await heard
      assert.equal((await other.policies.find('a'))?.policy.max_page_size, 5)
      const heardAgain = told(other.db)
      await namespaces.delete(operator, { name: 'a' })
      await heardAgain
      assert.equal(await other.policies.find('a'), null)
    })
  }

  test('a change that nobody told of is seen after a second', async () => {
    const world = await namespaceWorld(await open())
    const { db, policies, clock } = world
    assert.equal((await policies.find('default'))?.policy.max_page_size, 1_000)
    const settings = JSON.stringify({ max_page_size: 5 })
    await db.write((tx) => tx.query.updateTable('namespaces').set({ settings }).execute())
    assert.equal((await policies.find('default'))?.policy.max_page_size, 1_000)
    await clock.advance(1_000)
    assert.equal((await policies.find('default'))?.policy.max_page_size, 5)
  })
})
