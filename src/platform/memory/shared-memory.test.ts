import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { GiveUp } from '../outbound/give-up.ts'
import { type HeldMemory, SharedMemory } from './shared-memory.ts'

const [SLOW, QUICK] = [1, 2]

/** Asks for memory and remembers, by name, who has got it. */
function asking(memory: SharedMemory<number>) {
  const held = new Map<string, HeldMemory>()
  const ask = async (name: string, owner: number, bytes: number, signal = new GiveUp()) => {
    held.set(name, await memory.take(owner, bytes, signal))
  }
  return { held, ask }
}

test('owners share what there is, and one of each goes beyond it', async () => {
  const { held, ask } = asking(new SharedMemory<number>(10))
  for (const name of ['slow-1', 'slow-2', 'slow-3']) void ask(name, SLOW, 5)
  void ask('quick-1', QUICK, 30)
  void ask('quick-2', QUICK, 1)
  await setImmediate()
  assert.deepEqual([...held.keys()], ['slow-1', 'slow-2', 'quick-1'])
  held.get('quick-1')?.giveBack()
  await setImmediate()
  assert.deepEqual([...held.keys()].slice(3), ['quick-2'])
})

test('beyond four times as much even the only one of an owner waits, none passes another, and what is larger than all goes alone', async () => {
  const { held, ask } = asking(new SharedMemory<number>(10))
  for (let n = 1; n <= 4; n++) void ask(`first-${n}`, n, 10)
  void ask('large', 5, 50)
  void ask('small', 6, 1)
  void ask('second', 1, 1)
  await setImmediate()
  assert.deepEqual([...held.keys()], ['first-1', 'first-2', 'first-3', 'first-4'])
  for (let n = 1; n <= 4; n++) {
    assert.equal(held.size, 4)
    held.get(`first-${n}`)?.giveBack()
    await setImmediate()
  }
  assert.deepEqual([...held.keys()].slice(4), ['large'])
  held.get('large')?.giveBack()
  await setImmediate()
  assert.deepEqual([...held.keys()].slice(5), ['small', 'second'])
})

test('whoever waits for the owner that has least gets what is free', async () => {
  const { held, ask } = asking(new SharedMemory<number>(10))
  void ask('quick-1', QUICK, 1)
  for (const name of ['slow-1', 'slow-2', 'slow-3']) void ask(name, SLOW, 4)
  void ask('quick-2', QUICK, 4)
  await setImmediate()
  assert.deepEqual([...held.keys()], ['quick-1', 'slow-1', 'slow-2'])
  held.get('slow-1')?.giveBack()
  await setImmediate()
  assert.deepEqual([...held.keys()].slice(3), ['quick-2'])
  // One that turns out to be small makes room for another.
  held.get('quick-2')?.shrinkTo(1)
  await setImmediate()
  assert.deepEqual([...held.keys()].slice(4), ['slow-3'])
})

test('one that is given up while it waits keeps nothing from others', async () => {
  const { held, ask } = asking(new SharedMemory<number>(10))
  const giveUp = new GiveUp()
  void ask('first', SLOW, 6)
  const given = ask('given up', SLOW, 10, giveUp)
  void ask('behind', SLOW, 4)
  await setImmediate()
  assert.deepEqual([...held.keys()], ['first'])
  giveUp.abort(new Error('closed'))
  await assert.rejects(given, /closed/)
  await setImmediate()
  assert.deepEqual([...held.keys()], ['first', 'behind'])
})

test('who came first goes first only among those whose owners have as much', async () => {
  const { held, ask } = asking(new SharedMemory<number>(10))
  void ask('quick-1', QUICK, 1)
  for (const name of ['slow-1', 'slow-2']) void ask(name, SLOW, 4)
  for (const name of ['quick-2', 'quick-3']) void ask(name, QUICK, 4)
  for (const name of ['slow-3', 'slow-4']) void ask(name, SLOW, 4)
  for (const name of ['slow-1', 'slow-2', 'quick-2', 'slow-3']) {
    await setImmediate()
    held.get(name)?.giveBack()
  }
  await setImmediate()
  assert.deepEqual([...held.keys()].slice(3), ['quick-2', 'slow-3', 'quick-3', 'slow-4'])
})
