import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SystemClock } from '../clock/clock.ts'
import { collectBody } from './collect-body.ts'

const clock = new SystemClock()

async function* bytes(count: number, size: number) {
  for (let n = 0; n < count; n++) yield new Uint8Array(size).fill(n % 251)
}

test('a body in many small pieces comes in few large ones, with nothing lost', async () => {
  const blocks: Uint8Array[] = []
  for await (const block of collectBody(bytes(70_000, 1), { clock, withinMs: 60_000 })) blocks.push(block)
  assert.deepEqual(
    blocks.map(({ byteLength }) => byteLength),
    [65_536, 4_464],
  )
  const all = Buffer.concat(blocks)
  assert.ok(all.every((byte, n) => byte === n % 251))
})

test('an empty body is empty', async () => {
  for await (const _ of collectBody(bytes(0, 0), { clock, withinMs: 0 })) assert.fail('there was a block')
})

test('a failure of the connection is passed on and the source is let go', async () => {
  let isLetGo = false
  async function* broken() {
    try {
      yield new Uint8Array(10)
      throw new Error('reset')
    } finally {
      isLetGo = true
    }
  }
  await assert.rejects(async () => {
    for await (const _ of collectBody(broken(), { clock, withinMs: 60_000 })) assert.fail('there was a block')
  }, /reset/)
  assert.equal(isLetGo, true)
})
