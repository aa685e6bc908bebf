import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairPlaces } from './fair-places.ts'

function world(most: number) {
  const places = new FairPlaces(most)
  const gone: string[] = []
  return { gone, enter: (address: string, name: string) => places.enter(address, () => void gone.push(name)) }
}

test('whoever comes from elsewhere gets the oldest place of where most are, and nobody else does', () => {
  const { gone, enter } = world(4)
  for (const name of ['a1', 'a2', 'a3', 'a4']) assert.ok(enter('192.0.2.1', name))
  assert.equal(enter('192.0.2.1', 'a5'), undefined)
  assert.ok(enter('192.0.2.2', 'b1'))
  assert.ok(enter('::ffff:192.0.2.2', 'b2'))
  assert.deepEqual(gone, ['a1', 'a2'])
  for (const address of ['192.0.2.1', '192.0.2.2']) assert.equal(enter(address, 'more'), undefined)
  assert.ok(enter('192.0.2.3', 'c1'))
  assert.equal(gone.length, 3)
})

test('one network of IPv6 is one, however many addresses it has', () => {
  const { gone, enter } = world(2)
  assert.ok(enter('2001:db8::1', 'a1') && enter('2001:db8::2', 'a2'))
  assert.equal(enter('2001:db8::3', 'a3'), undefined)
  assert.ok(enter('2001:db8:0:1::1', 'b1'))
  assert.deepEqual(gone, ['a1'])
})

test('a place is free once whoever had it has left, and is left once', () => {
  const { gone, enter } = world(2)
  const [one, other] = [enter('192.0.2.1', 'one'), enter('192.0.2.1', 'other')]
  assert.ok(one && other)
  one.leave()
  one.leave()
  assert.ok(enter('192.0.2.1', 'next'))
  assert.equal(enter('192.0.2.1', 'more'), undefined)
  assert.ok(enter('192.0.2.2', 'elsewhere'))
  assert.deepEqual(gone, ['other'])
  other.leave()
  assert.equal(enter('192.0.2.2', 'second'), undefined)
})
