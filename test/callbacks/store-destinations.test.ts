import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  changeDestination,
  destinationId,
  ensureDestination,
  findDestination,
  findDestinationByName,
  holdDestination,
  listDestinations,
  removeNewDestination,
} from '../../src/callbacks/destination/store-destinations.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { eachDatabase } from '../support/each-database.ts'
import { NAMESPACE, SHARED } from './store-world.ts'

const PLACE = 'https://hooks.example.org:8443'

eachDatabase('destinations', ({ engine, open, openAgain }) => {
  test('each namespace has its own, which keep their numbers', async () => {
    const db = await open()
    const other = newId<'Namespace'>()
    const idIn = (namespaceId: typeof other, place: string) =>
      db.write((tx) => destinationId(tx, namespaceId, place), SHARED)
    const id = await idIn(NAMESPACE, PLACE)
    assert.equal(await idIn(NAMESPACE, PLACE), id)
    const others = [await idIn(other, PLACE), await idIn(NAMESPACE, 'https://hooks.example.org')]
    assert.equal(new Set([id, ...others]).size, 3)
    const found = await findDestination(db, id)
    assert.deepEqual(found, {
      id,
      namespaceId: NAMESPACE,
      destination: PLACE,
      concurrency: null,
      rps: null,
      isPaused: false,
      lastSuccessAt: null,
      lastFailureAt: null,
      lastFailureMessage: null,
    })
    assert.deepEqual(await findDestinationByName(db, NAMESPACE, PLACE), found)
    assert.equal(await findDestinationByName(db, other, 'https://nowhere.example.org'), undefined)
    assert.equal(await findDestination(db, 999), undefined)
  })

  for (const isolation of ['read committed', 'serializable'] as const) {
    test(`whoever asks first at the same time, all get one number (${isolation})`, async () => {
      const db = await open({ poolSize: 8 })
      const other = await openAgain(db, { poolSize: 8 })
      const ids = await Promise.all(
        Array.from({ length: 12 }, (_, n) =>
          (n % 2 ? db : other).write((tx) => destinationId(tx, NAMESPACE, PLACE), { isolation }),
        ),
      )
      assert.equal(new Set(ids).size, 1)
      assert.equal((await listDestinations(db, NAMESPACE)).length, 1)
    })
  }

  test('one is new to whoever added it and to nobody else, also when that one takes it back', async () => {
    const db = await open({ poolSize: 2 })
    const takeBack = () =>
      db.write(async (tx) => {
        const { id, isNew } = await ensureDestination(tx, NAMESPACE, PLACE)
        if (isNew) await removeNewDestination(tx, id)
        return isNew
      }, SHARED)
    const keep = () => db.write((tx) => destinationId(tx, NAMESPACE, PLACE), SHARED)
    const [, id] = await Promise.all([takeBack(), keep(), takeBack(), takeBack()])
    assert.equal((await findDestinationByName(db, NAMESPACE, PLACE))?.id, id)
    assert.equal(await takeBack(), false)
    assert.equal(await keep(), id)
  })

  test('are listed by name, page by page', async () => {
    const db = await open()
    const places = ['https://c.example.org', 'http://b.example.org', 'https://B.example.org', 'https://a.example.org']
    for (const place of places) await db.write((tx) => destinationId(tx, NAMESPACE, place), SHARED)
    await db.write((tx) => destinationId(tx, newId(), PLACE), SHARED)
    const names = async (options?: object) =>
      (await listDestinations(db, NAMESPACE, options)).map(({ destination }) => destination)
    assert.deepEqual(await names(), places.toSorted())
    assert.deepEqual(await names({ limit: 3 }), places.toSorted().slice(0, 3))
    assert.deepEqual(await names({ after: places.toSorted()[2] }), places.toSorted().slice(3))
  })

  test('what is changed is changed, and the rest stays', async () => {
    const db = await open()
    const id = await db.write((tx) => destinationId(tx, NAMESPACE, PLACE), SHARED)
    const change = async (wish: Parameters<typeof changeDestination>[2]) => {
      assert.equal(await db.write((tx) => changeDestination(tx, id, wish)), true)
      const { concurrency, rps, isPaused } = (await findDestination(db, id)) ?? {}
      return [concurrency, rps, isPaused]
    }
    assert.deepEqual(await change({ concurrency: 5 }), [5, null, false])
    assert.deepEqual(await change({ rps: 0.1, isPaused: true }), [5, 0.1, true])
    assert.deepEqual(await change({}), [5, 0.1, true])
    assert.deepEqual(await change({ concurrency: null, isPaused: false }), [null, 0.1, false])
    assert.equal(await db.write((tx) => changeDestination(tx, 999, { rps: 1 })), false)
  })

  test('is held by one at a time, who sees what was changed before', async () => {
    const db = await open()
    const other = engine === 'sqlite' ? db : await openAgain(db)
    const id = await db.write((tx) => destinationId(tx, NAMESPACE, PLACE), SHARED)
    const hold = (place: string) => other.write((tx) => holdDestination(tx, NAMESPACE, place), SHARED)
    let next: ReturnType<typeof hold> | undefined
    await db.write(async (tx) => {
      assert.equal((await holdDestination(tx, NAMESPACE, PLACE))?.id, id)
      next ??= hold(PLACE)
      await changeDestination(tx, id, { rps: 3 })
    }, SHARED)
    assert.equal((await next)?.rps, 3)
    assert.equal(await hold('https://nowhere.example.org'), undefined)
  })
})
