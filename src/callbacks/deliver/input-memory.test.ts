import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { GiveUp } from '../../platform/outbound/give-up.ts'
import { type HeldMemory, InputMemory } from './input-memory.ts'

const [SLOW, QUICK] = [1, 2]

/** Asks for memory and remembers, by name, who has got it. */
function asking(memory: InputMemory) {
  const held = new Map<string, HeldMemory>()
  const ask = async (name: string, destinationId: number, bytes: number, signal = new GiveUp()) => {
    held.set(name, await memory.take(destinationId, bytes, signal))
  }
  return { held, ask }
}

test('inputs of all destinations together take no more memory than there is', async () => {
  const { held, ask } = asking(new InputMemory(10))
  for (let n = 1; n <= 6; n++) void ask(`c-${n}`, n, 4)
  await setImmediate()
  assert.deepEqual([...held.keys()], ['c-1', 'c-2'])
  held.get('c-1')?.giveBack()
  await setImmediate()
  assert.deepEqual([...held.keys()], ['c-1', 'c-2', 'c-3'])
  // One that turns out to be small makes room for another.
  held.get('c-3')?.shrinkTo(1)
  held.get('c-2')?.shrinkTo(2)
  await setImmediate()
  assert.deepEqual([...held.keys()].slice(3), ['c-4'])
})

test('whoever waits for the destination that has least gets what is free', async () => {
  const { held, ask } = asking(new InputMemory(10))
  for (let n = 1; n <= 5; n++) void ask(`slow-${n}`, SLOW, 5)
  void ask('quick', QUICK, 5)
  await setImmediate()
  held.get('slow-1')?.giveBack()
  await setImmediate()
  assert.deepEqual([...held.keys()], ['slow-1', 'slow-2', 'quick'])
})

test('one that is larger than all of it goes alone', async () => {
  const { held, ask } = asking(new InputMemory(10))
  void ask('small', QUICK, 1)
  void ask('large', SLOW, 50)
  await setImmediate()
  assert.deepEqual([...held.keys()], ['small'])
  held.get('small')?.giveBack()
  await setImmediate()
  assert.deepEqual([...held.keys()], ['small', 'large'])
})

test('one that is given up while it waits keeps nothing from others', async () => {
  const { held, ask } = asking(new InputMemory(10))
  const giveUp = new GiveUp()
  void ask('first', QUICK, 6)
  const given = ask('given up', SLOW, 10, giveUp)
  void ask('behind', QUICK, 4)
  await setImmediate()
  assert.deepEqual([...held.keys()], ['first'])
  giveUp.abort(new Error('closed'))
  await assert.rejects(given, /closed/)
  await setImmediate()
  assert.deepEqual([...held.keys()], ['first', 'behind'])
})
