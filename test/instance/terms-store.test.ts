import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTerms } from '../../src/instance/documents/store-terms.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type AdminWorld, adminWorld, auditOf, refusal } from './admin-world.ts'

const DAY_MS = 86_400_000

async function draft({ terms, operator }: AdminWorld, text = 'T'): Promise<number> {
  return (await terms.create(operator, { text })).id
}

async function publishedDates({ db }: AdminWorld): Promise<string[]> {
  return (await readTerms(db)).map(({ effectiveDate }) => effectiveDate)
}

eachDatabase('terms of service', ({ open }) => {
  test('a draft is seen by administrators only, can be changed and deleted, and is then gone', async () => {
    const world = await adminWorld(await open())
    const { terms, operator, db } = world
    const id = await draft(world)
    const changed = await terms.update(operator, { id, text: '**New** %{domain}', changelog: 'c' })
    assert.deepEqual(
      [changed.content, changed.effectiveDate, changed.publishedAt, changed.changelog],
      ['<p><strong>New</strong> kb.example.org</p>', null, null, 'c'],
    )
    assert.deepEqual(await readTerms(db), [])
    assert.deepEqual(
      (await terms.list(operator)).map((one) => one.id),
      [id],
    )
    await terms.delete(operator, { id })
    assert.deepEqual(await terms.list(operator), [])
    await assert.rejects(terms.delete(operator, { id }), (error) => isAppError(error, 'not_found'))
    assert.notEqual(await draft(world), id, 'no id is given twice')
  })

  test('published terms never change', async () => {
    const world = await adminWorld(await open())
    const { terms, operator } = world
    const id = await draft(world)
    const published = await terms.publish(operator, { id, effectiveDate: '2030-02-01', changelog: 'first' })
    assert.deepEqual([published.effectiveDate, published.changelog], ['2030-02-01', 'first'])
    assert.equal(published.publishedAt, published.updatedAt)
    for (const change of [
      () => terms.update(operator, { id, text: 'x' }),
      () => terms.delete(operator, { id }),
      () => terms.publish(operator, { id, effectiveDate: '2030-03-01' }),
    ]) {
      assert.deepEqual(await refusal(change()), { base: 'ERR_PUBLISHED' })
    }
    assert.deepEqual(await terms.list(operator), [published])
  })

  test('take effect today when no day is given, by the clock in UTC', async () => {
    const world = await adminWorld(await open(), {}, new FakeClock('2030-06-30T23:59:59Z'))
    const first = await world.terms.publish(world.operator, { id: await draft(world) })
    await world.clock.advance(1_000)
    const second = await world.terms.publish(world.operator, { id: await draft(world) })
    assert.deepEqual([first.effectiveDate, second.effectiveDate], ['2030-06-30', '2030-07-01'])
  })

  test('a day is a real one, free, and not before the version in effect', async () => {
    const world = await adminWorld(await open(), {}, new FakeClock('2030-06-15T12:00:00Z'))
    const { terms, operator, clock } = world
    const publish = async (effectiveDate: string) => terms.publish(operator, { id: await draft(world), effectiveDate })
    const field = 'effective_date'
    assert.deepEqual(await refusal(publish('2030-06-14')), { [field]: 'ERR_TOO_SOON' }, 'not before today at first')
    for (const text of ['2030-02-30', 'soon', '', '2030-7-1']) {
      assert.deepEqual(await refusal(publish(text)), { [field]: 'ERR_INVALID' })
    }
    await publish('2030-06-15')
    await publish('2030-08-01')
    await clock.advance(5 * DAY_MS)
    assert.deepEqual(await refusal(publish('2030-08-01')), { [field]: 'ERR_TAKEN' })
    assert.deepEqual(await refusal(publish('2030-06-14')), { [field]: 'ERR_TOO_SOON' })
    await publish('2030-06-16')
    assert.deepEqual(await publishedDates(world), ['2030-06-15', '2030-06-16', '2030-08-01'])
  })

  test('of two that are published for one day at once, one is', async () => {
    const world = await adminWorld(await open())
    const ids = [await draft(world), await draft(world)]
    const outcomes = await Promise.allSettled(
      ids.map((id) => world.terms.publish(world.operator, { id, effectiveDate: '2031-01-01' })),
    )
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.deepEqual(await publishedDates(world), ['2031-01-01'])
  })

  test('each step is in the log with old and new values', async () => {
    const db = await open()
    const world = await adminWorld(db)
    const id = await draft(world, 'A')
    await world.terms.update(world.operator, { id, text: 'B' })
    await world.terms.publish(world.operator, { id, effectiveDate: '2030-02-01' })
    await world.terms.delete(world.operator, { id: await draft(world, 'C') })
    const events = await auditOf(db, 'instance_terms')
    assert.deepEqual(
      events.map(({ action }) => action),
      ['created', 'updated', 'published', 'created', 'deleted'].map((verb) => `instance_terms.${verb}`),
    )
    assert.deepEqual(events[1]?.changes, { text: { old: 'A', new: 'B' } })
    assert.deepEqual(events[2]?.changes, { effective_date: { old: null, new: '2030-02-01' } })
  })

  test('are at most 500, and others have their turn between any two that are listed', async () => {
    const { db, terms, operator } = await adminWorld(await open())
    const times = { created_at: 1, updated_at: 1, published_at: null, effective_date: null }
    const rows = Array.from({ length: 500 }, () => ({ text: 'x', changelog: '', ...times }))
    await db.write((tx) => tx.query.insertInto('instance_terms').values(rows).execute())
    assert.deepEqual(await refusal(terms.create(operator, { text: 'one more' })), { base: 'ERR_TOO_MANY' })
    let turns = 0
    const turn = () => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    assert.equal((await terms.list(operator)).length, 500)
    clearImmediate(next)
    assert.ok(turns >= 499, `${turns} turns`)
  })

  test('an empty text is refused, of a new draft and of a changed one', async () => {
    const world = await adminWorld(await open())
    assert.deepEqual(await refusal(world.terms.create(world.operator, { text: ' ' })), { text: 'ERR_BLANK' })
    const id = await draft(world)
    assert.deepEqual(await refusal(world.terms.update(world.operator, { id, text: '' })), { text: 'ERR_BLANK' })
  })
})
