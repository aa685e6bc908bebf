import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { Authenticator } from '../../../src/platform/auth/authenticator.ts'
import type { Principal } from '../../../src/platform/auth/principal.ts'
import { operation } from '../../../src/platform/http/operation.ts'
import { SharedMemory } from '../../../src/platform/memory/shared-memory.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { socketClosed } from '../../support/receivers/receiver.ts'
import { startPlatform } from './platform-server.ts'

const LARGE = 100_000
const settings = { body_limit: 1_000_000 }

function route(server: FastifyInstance, access: 'public' | 'signed_in' = 'public'): void {
  operation(server, {
    method: 'POST',
    url: '/v2/large',
    operationId: 'Large',
    summary: 'Large',
    surface: 'knowledge',
    access,
    rateLimit: null,
    schema: { body: Type.String(), response: { 200: Type.Number() } },
    handler: async ({ body }) => body.length,
  })
}

/** A server whose memory for large bodies is taken; `free` gives it back. */
async function full(options: { clock?: FakeClock } = {}) {
  const bodyMemory = new SharedMemory<string>(1)
  const held = await bodyMemory.take('somebody', LARGE, new AbortController().signal)
  const platform = await startPlatform({ routes: (server) => route(server), settings, bodyMemory, ...options })
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

test('who went away while its credentials were looked up takes no memory: nobody would give it back', async () => {
  const bodyMemory = new SharedMemory<string>(1)
  const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const authenticator: Authenticator = {
    async authenticate() {
      asked.resolve()
      await gone.promise
      return { kind: 'ok', principal: { userId: 'ann', permissions: new Set() } as unknown as Principal }
    },
  }
  const routes = (server: FastifyInstance) => route(server, 'signed_in')
  await using platform = await startPlatform({ routes, settings, bodyMemory, authenticator })
  const head = `POST /v2/large HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${LARGE}\r\n\r\n`
  const accepted = once(platform.server.server, 'connection')
  const caller = connect(platform.port, '127.0.0.1')
  caller.write(head)
  const [socket] = (await accepted) as [Socket]
  await asked.promise
  caller.destroy()
  await socketClosed(socket)
  gone.resolve()
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  assert.ok(bodyMemory.isFree('ann', LARGE) && bodyMemory.isFree('ben', LARGE))
})
