import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIpFilter } from './ip-filter.ts'
import { MOST_TOGETHER, RequestPack, unpackRequests } from './thread-messages.ts'

/** How many requests with such bodies go together. */
function untilFull(bodyBytes: number): number {
  const pack = new RequestPack()
  let count = 0
  while (!pack.isFull) {
    pack.add(++count, 'HEAD', {
      url: new URL('http://hooks.example.org/'),
      path: '/',
      method: 'POST',
      headers: new Map(),
      body: Buffer.alloc(bodyBytes, count),
      filter: createIpFilter([]),
      timeoutMs: 1_000,
      maxBodyBytes: 1,
      isSuccessEnough: true,
    })
  }
  const unpacked = [...unpackRequests(pack.message([]))]
  assert.deepEqual(
    unpacked.map(({ id, bytes }) => [id, bytes.length, bytes.at(-1)]),
    Array.from({ length: count }, (_, at) => [at + 1, 4 + bodyBytes, at + 1]),
  )
  return count
}

test('so many requests go to the sending thread together, fewer where they are long: a slow one keeps the memory of all of them', () => {
  assert.equal(untilFull(300), MOST_TOGETHER)
  assert.equal(untilFull(64 * 1024), 4)
})
