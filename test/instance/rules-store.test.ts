import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MOST_RULES } from '../../src/instance/rules/rule.ts'
import { readRules } from '../../src/instance/rules/store-rules.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type AdminWorld, adminWorld, auditOf, refusal } from './admin-world.ts'

async function textsOf({ db }: Pick<AdminWorld, 'db'>): Promise<string[]> {
  return (await readRules(db)).map(({ text }) => text)
}

async function three(world: AdminWorld): Promise<number[]> {
  const ids: number[] = []
  for (const text of ['a', 'b', 'c']) ids.push(Number((await world.rules.create(world.operator, { text })).id))
  return ids
}

const isNotFound = (error: unknown) => isAppError(error, 'not_found') && error.message === 'Record not found'

eachDatabase('rules of the instance', ({ open }) => {
  test('are kept with hints and translations, in the order of priority, then of age', async () => {
    const db = await open()
    const { rules, operator } = await adminWorld(db)
    const translations = { de: { text: 'Sei nett', hint: '' }, 'pt-BR': { text: 'x', hint: 'y' } }
    await rules.create(operator, { text: 'first', hint: 'h 🗒', translations })
    await rules.create(operator, { text: 'same place', priority: 0 })
    await rules.create(operator, { text: 'last' })
    const list = await rules.list(operator)
    assert.deepEqual(
      list.map(({ text, priority }) => [text, priority]),
      [
        ['first', 0],
        ['same place', 0],
        ['last', 1],
      ],
    )
    assert.deepEqual(list[0], { id: '1', text: 'first', hint: 'h 🗒', priority: 0, translations })
  })

  test('a move gives every rule its place as priority', async () => {
    const world = await adminWorld(await open())
    const [a = 0, , c = 0] = await three(world)
    await world.rules.update(world.operator, { id: c, wish: { priority: 90 } })
    assert.equal((await world.rules.move(world.operator, { id: c, offset: -1 })).priority, 1)
    assert.deepEqual(await textsOf(world), ['a', 'c', 'b'])
    await world.rules.move(world.operator, { id: a, offset: 100 })
    assert.deepEqual(await textsOf(world), ['c', 'b', 'a'])
    assert.deepEqual(
      (await readRules(world.db)).map(({ priority }) => priority),
      [0, 1, 2],
    )
  })

  test('a deleted rule is shown nowhere, cannot be changed, and its id is never given again', async () => {
    const world = await adminWorld(await open())
    const ids = await three(world)
    const [id = 0] = ids.slice(-1)
    await world.rules.delete(world.operator, { id })
    assert.deepEqual(await textsOf(world), ['a', 'b'])
    for (const change of [
      () => world.rules.delete(world.operator, { id }),
      () => world.rules.update(world.operator, { id, wish: { text: 'x' } }),
      () => world.rules.move(world.operator, { id, offset: 1 }),
      () => world.rules.delete(world.operator, { id: 10 ** 14 }),
    ]) {
      await assert.rejects(change, isNotFound)
    }
    const next = await world.rules.create(world.operator, { text: 'd' })
    assert.ok(!ids.includes(Number(next.id)))
    const kept = await world.db.query.selectFrom('instance_rules').select('text').where('id', '=', id).execute()
    assert.deepEqual(
      kept.map(({ text }) => text),
      ['c'],
    )
  })

  test('every change is in the log, with old and new values, whatever the languages are called', async () => {
    const db = await open()
    const world = await adminWorld(db)
    const { rules, operator } = world
    const { id } = await rules.create(operator, { text: 'a', translations: { key: { text: 'x' } } })
    await rules.update(operator, { id: Number(id), wish: { hint: 'h' } })
    await rules.update(operator, { id: Number(id), wish: { hint: 'h' } })
    await rules.move(operator, { id: Number(id), offset: 1 })
    await rules.delete(operator, { id: Number(id) })
    const events = await auditOf(db, 'instance_rules')
    assert.deepEqual(
      events.map(({ action }) => action),
      ['created', 'updated', 'moved', 'deleted'].map((verb) => `instance_rule.${verb}`),
    )
    const { old, new: now } = events[1]?.changes.rule ?? {}
    assert.deepEqual([JSON.parse(old).hint, JSON.parse(now).hint], ['', 'h'])
  })

  test('there is a limit to their number', async () => {
    const db = await open()
    const { rules, operator } = await adminWorld(db)
    const row = {
      text: 'x',
      hint: '',
      priority: 0,
      translations: '{}',
      created_at: 1,
      modified_at: 1,
      deleted_at: null,
    }
    await db.write((tx) =>
      tx.query
        .insertInto('instance_rules')
        .values(Array.from({ length: MOST_RULES }, () => row))
        .execute(),
    )
    assert.deepEqual(await refusal(rules.create(operator, { text: 'one more' })), { base: 'ERR_TOO_MANY' })
  })

  test('rules that are made at once get different places', async () => {
    const world = await adminWorld(await open())
    await Promise.all(['a', 'b', 'c', 'd'].map((text) => world.rules.create(world.operator, { text })))
    const priorities = (await readRules(world.db)).map(({ priority }) => priority)
    assert.deepEqual(priorities, [0, 1, 2, 3])
  })
})
