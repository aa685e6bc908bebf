import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BodyKeeper } from './body-keeper.ts'
import { PreparedBody } from './prepared-body.ts'

const NUMBERS = Array.from({ length: 3_500 }, (_, n) => n)
const doubled = (n: number) => ({ doubled: 2 * n })

test('a long list is written in turns with others, once for all who ask, and kept', async () => {
  const keeper = new BodyKeeper()
  const writing = keeper.list('numbers', NUMBERS, NUMBERS, doubled)
  assert.ok(writing instanceof Promise)
  assert.equal(keeper.list('numbers', NUMBERS, NUMBERS, doubled), writing)
  let turns = 0
  const counting = setImmediate(function count() {
    turns++
    setImmediate(count).unref()
  })
  const body = await writing
  clearImmediate(counting)
  assert.ok(turns > 0)
  assert.deepEqual(JSON.parse(body.plain.bytes.toString()), NUMBERS.map(doubled))
  assert.equal(keeper.list('numbers', NUMBERS, NUMBERS, doubled), body)
})

test('a short list is there at once, and an empty one is a list', () => {
  const keeper = new BodyKeeper()
  for (const items of [[], [1, 2]]) {
    const body = keeper.list('numbers', items, items, doubled)
    assert.ok(body instanceof PreparedBody)
    assert.deepEqual(JSON.parse(body.plain.bytes.toString()), items.map(doubled))
  }
})

test('a long list that was read again and says the same keeps its body; another one gets its own', async () => {
  const keeper = new BodyKeeper()
  const first = await keeper.list('numbers', {}, NUMBERS, doubled)
  assert.equal(await keeper.list('numbers', {}, [...NUMBERS], doubled), first)
  const other = await keeper.list('numbers', {}, NUMBERS.slice(1), doubled)
  assert.notEqual(other.etag, first.etag)
})
