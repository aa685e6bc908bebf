import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import { doneBefore, keepDone, renewClaim } from '../../src/platform/http/answer/idempotent.ts'
import { operation } from '../../src/platform/http/operation.ts'
import { Idempotency } from '../../src/platform/idempotency/idempotency.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { HastyClock } from '../support/hasty-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { type Platform, startPlatform } from './platform/platform-server.ts'

let db: Database
let platform: Platform
let answers: ((request: FastifyRequest) => unknown)[] = []
before(async () => {
  const options = { clock: new SystemClock(), log: silentLogger() }
  db = await openDatabase({ dataDir: tempDir(), ...options })
  await migrate(db, options)
  platform = await startPlatform({
    // Who waits until storage answers again does not wait long.
    idempotency: new Idempotency({ db, clock: new HastyClock() }),
    routes(server) {
      operation(server, {
        method: 'POST',
        url: '/api/v2/made-anew',
        operationId: 'MakeAnew',
        summary: 'Make',
        surface: 'users',
        access: 'signed_in',
        rateLimit: null,
        idempotent: { remake: async (_request, kept) => ({ ...kept, body: '{"made":"anew"}' }) },
        schema: { body: Type.Object({}), response: { 200: Type.Object({ made: Type.String() }) } },
        handler: (request) => answers.shift()?.(request),
      })
      operation(server, {
        method: 'POST',
        url: '/api/v2/things',
        operationId: 'Make',
        summary: 'Make',
        surface: 'users',
        access: 'signed_in',
        rateLimit: null,
        schema: { body: Type.Object({}), response: { 200: Type.Object({ made: Type.String() }), 204: null } },
        handler: (request) => answers.shift()?.(request),
      })
    },
  })
})
after(async () => {
  await platform[Symbol.asyncDispose]()
  await db.close()
})

test('an operation of the users surface cannot ask that its answers are kept with their secrets', async () => {
  const starting = startPlatform({
    idempotency: new Idempotency({ db, clock: new SystemClock() }),
    routes(server) {
      operation(server, {
        method: 'POST',
        url: '/api/v2/secrets',
        operationId: 'MakeSecret',
        summary: 'Make',
        surface: 'users',
        access: 'signed_in',
        rateLimit: null,
        idempotent: { isCallersOwn: true },
        schema: { response: { 200: Type.Object({ token: Type.String() }) } },
        handler: () => ({ token: 'plain' }),
      })
    },
  })
  await assert.rejects(starting, /MakeSecret .* not kept whole/)
})

async function post(key: string, ...next: typeof answers): Promise<Response> {
  return postTo('/api/v2/things', key, next)
}

async function postTo(path: string, key: string, next: typeof answers): Promise<Response> {
  answers = next
  const headers = { authorization: 'Bearer admin', 'content-type': 'application/json', 'idempotency-key': key }
  return fetch(new URL(path, platform.url), { method: 'POST', headers, body: '{}' })
}

/** Does what was asked for, as far as the key is concerned. */
function doneIn(request: FastifyRequest, also?: (tx: Transaction) => Promise<unknown>): Promise<void> {
  return db.write(async (tx) => {
    await keepDone(tx, request, { status: 200, headers: {} })
    await also?.(tx)
  })
}

const renamed = (from: string, to: string) => (tx: Transaction) =>
  tx.query.schema
    .alterTable(from as never)
    .renameTo(to)
    .execute()
const hideKeys = renamed('idempotency_keys', 'elsewhere')
const showKeys = renamed('elsewhere', 'idempotency_keys')

function failing(error: unknown): () => never {
  return () => {
    throw error
  }
}

for (const [name, error, status] of [
  ['a defect', new Error('broken'), 500],
  ['storage that does not answer', new AppError('unavailable', 'Storage does not answer'), 503],
  ['a limit', new AppError('rate_limited', 'Rate limit exceeded, retry in 3 seconds'), 429],
  ['a lost race', new AppError('aborted', 'Somebody else was faster'), 409],
] as const) {
  test(`the answer to ${name} is not kept: the next try runs`, async () => {
    assert.equal((await post(name.replaceAll(' ', '-'), failing(error))).status, status)
    const second = await post(name.replaceAll(' ', '-'), () => ({ made: 'yes' }))
    assert.equal(second.status, 200)
    assert.equal(second.headers.get('idempotent-replayed'), null)
    const third = await post(name.replaceAll(' ', '-'), failing(new Error('must not run')))
    assert.equal(third.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual(await third.json(), { made: 'yes' })
  })
}

test('a second request while the first runs is told to come back', async () => {
  const began = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const first = post('running', async () => {
    began.resolve()
    await end.promise
    return { made: 'slowly' }
  })
  await began.promise
  const second = await post('running')
  assert.equal(second.status, 409)
  assert.equal(second.headers.get('retry-after'), '1')
  assert.deepEqual(await second.json(), { errors: ['A request with this Idempotency-Key is still running'] })
  end.resolve()
  assert.equal((await first).status, 200)
  assert.deepEqual(await (await post('running')).json(), { made: 'slowly' })
})

test('an answer that its schema refuses is a defect, and is not kept', async () => {
  assert.equal((await post('bad-answer', () => ({}))).status, 500)
  assert.equal((await post('bad-answer', () => ({ made: 'now' }))).status, 200)
})

test('the caller gets its answer even when it cannot be kept, which it is as soon as storage takes it', async () => {
  const answer = await post('lost', async () => {
    await db.write(hideKeys)
    return { made: 'anyway' }
  })
  assert.deepEqual(await answer.json(), { made: 'anyway' })
  assert.match(platform.log(), /could not be kept/)
  await db.write(showKeys)
  const again = await untilSettled('/api/v2/things', 'lost')
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(await again.json(), { made: 'anyway' })
})

test('a key is free as soon as storage, which made the request fail, answers again', async () => {
  const failed = await post('away', async () => {
    await db.write(hideKeys)
    throw new AppError('unavailable', 'Storage does not answer')
  })
  assert.equal(failed.status, 503)
  await db.write(showKeys)
  assert.deepEqual(await (await untilSettled('/api/v2/things', 'away', () => ({ made: 'then' }))).json(), {
    made: 'then',
  })
})

test('what was done is answered to a repeat although the first request never was', async () => {
  const first = await postTo('/api/v2/made-anew', 'died', [
    async (request) => {
      await doneIn(request)
      throw new Error('as if the process had died')
    },
  ])
  assert.equal(first.status, 500)
  const again = await postTo('/api/v2/made-anew', 'died', [failing(new Error('must not run'))])
  assert.equal(again.status, 200)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(await again.json(), { made: 'anew' })
})

test('a part that was done is gone on behind at once, although the request was never told of it', async () => {
  const first = await post('part', async (request) => {
    await db.write(async (tx) => {
      const unheard = { query: tx.query, afterCommit: () => {} } as unknown as Transaction
      await renewClaim(unheard, request, () => '"a part"')
    })
    throw new AppError('unavailable', 'Storage does not answer')
  })
  assert.equal(first.status, 503)
  const again = await post('part', (request) => ({ made: `behind ${doneBefore(request)}` }))
  assert.deepEqual(await again.json(), { made: 'behind "a part"' })
})

test('what was undone runs again', async () => {
  const first = await postTo('/api/v2/made-anew', 'undone', [
    (request) =>
      doneIn(request, async () => {
        throw new AppError('unavailable', 'Storage does not answer')
      }),
  ])
  assert.equal(first.status, 503)
  const again = await postTo('/api/v2/made-anew', 'undone', [() => ({ made: 'now' })])
  assert.deepEqual(await again.json(), { made: 'now' })
  const kept = await postTo('/api/v2/made-anew', 'undone', [])
  assert.deepEqual(await kept.json(), { made: 'now' })
})

/** The answer once the key is no longer held. */
async function untilSettled(path: string, key: string, ...next: typeof answers): Promise<Response> {
  for (;;) {
    const answer = await postTo(path, key, next)
    if (answer.status !== 409) return answer
    await answer.text()
  }
}
