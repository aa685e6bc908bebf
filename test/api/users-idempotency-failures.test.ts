import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Type } from 'typebox'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { AppError } from '../../src/platform/errors/app-error.ts'
import { operation } from '../../src/platform/http/operation.ts'
import { Idempotency } from '../../src/platform/idempotency/idempotency.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { type Platform, startPlatform } from './platform/platform-server.ts'

let db: Database
let platform: Platform
let answers: (() => unknown)[] = []
before(async () => {
  const options = { clock: new SystemClock(), log: silentLogger() }
  db = await openDatabase({ dataDir: tempDir(), ...options })
  await migrate(db, options)
  platform = await startPlatform({
    idempotency: new Idempotency({ db, clock: options.clock }),
    routes(server) {
      operation(server, {
        method: 'POST',
        url: '/api/v2/things',
        operationId: 'Make',
        summary: 'Make',
        surface: 'users',
        access: 'signed_in',
        rateLimit: null,
        schema: { body: Type.Object({}), response: { 200: Type.Object({ made: Type.String() }), 204: null } },
        handler: () => answers.shift()?.(),
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

async function post(key: string, ...next: (() => unknown)[]): Promise<Response> {
  answers = next
  const headers = { authorization: 'Bearer admin', 'content-type': 'application/json', 'idempotency-key': key }
  return fetch(new URL('/api/v2/things', platform.url), { method: 'POST', headers, body: '{}' })
}

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

test('the caller gets its answer even when it cannot be kept', async () => {
  const answer = await post('lost', async () => {
    await db.write((tx) => tx.query.schema.alterTable('idempotency_keys').renameTo('elsewhere').execute())
    return { made: 'anyway' }
  })
  assert.deepEqual(await answer.json(), { made: 'anyway' })
  await db.write((tx) =>
    tx.query.schema
      .alterTable('elsewhere' as never)
      .renameTo('idempotency_keys')
      .execute(),
  )
  assert.match(platform.log(), /could not be kept/)
})
