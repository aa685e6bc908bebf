import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { operation } from '../../../src/platform/http/operation.ts'
import { SharedMemory } from '../../../src/platform/memory/shared-memory.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startPlatform } from './platform-server.ts'

const LARGE = 100_000
const settings = { body_limit: 1_000_000 }

function route(server: FastifyInstance): void {
  operation(server, {
    method: 'POST',
    url: '/v2/large',
    operationId: 'Large',
    summary: 'Large',
    surface: 'knowledge',
    access: 'public',
    rateLimit: null,
    schema: { body: Type.String(), response: { 200: Type.Number() } },
    handler: async ({ body }) => body.length,
  })
}

/** A server whose memory for large bodies is taken; `free` gives it back. */
async function full(options: { clock?: FakeClock } = {}) {
  const bodyMemory = new SharedMemory<string>(1)
  const held = await bodyMemory.take('somebody', LARGE, new AbortController().signal)
  const platform = await startPlatform({ routes: route, settings, bodyMemory, ...options })
  const send = (length: number, init: RequestInit = {}) =>
    fetch(`${platform.url}/v2/large`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify('x'.repeat(length)),
      ...init,
    })
  const waiting = async (count: number) => {
    while (bodyMemory.waiting !== count) await nextTurn()
  }
  return { platform, send, waiting, free: () => held.giveBack() }
}

test('a large body waits until there is memory for it; a small one, and one that is too large, do not', async () => {
  const { platform, send, waiting, free } = await full()
  await using _ = platform
  const sent = Promise.all([send(LARGE), send(LARGE)])
  await waiting(2)
  assert.equal((await send(10)).status, 200)
  assert.equal((await send(settings.body_limit)).status, 413)
  free()
  for (const answer of await sent) assert.equal(await answer.json(), LARGE)
  await waiting(0)
})

test('a body that says no length waits as if it had the greatest', async () => {
  const { platform, send, waiting, free } = await full()
  await using _ = platform
  const stream = new Blob(['"x"']).stream()
  const sent = send(0, { body: stream, duplex: 'half' } as RequestInit)
  await waiting(1)
  free()
  assert.equal(await (await sent).json(), 1)
})

test('who waits too long for memory is told to come again', async () => {
  const clock = new FakeClock()
  const { platform, send, waiting } = await full({ clock })
  await using _ = platform
  const sent = send(LARGE)
  await waiting(1)
  await clock.advance(15_000)
  const answer = await sent
  assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'])
  assert.match(await answer.text(), /Too many large requests/)
  await waiting(0)
})

test('who goes away while it waits for memory leaves its place', async () => {
  const { platform, send, waiting } = await full()
  await using _ = platform
  const leaving = new AbortController()
  const sent = assert.rejects(send(LARGE, { signal: leaving.signal }))
  await waiting(1)
  leaving.abort()
  await sent
  await waiting(0)
})
