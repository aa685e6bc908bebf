import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Authenticator } from '../../src/platform/auth/authenticator.ts'
import { MICROS_PER_MS } from '../../src/platform/clock/clock.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  ADMIN,
  authenticatorOf,
  bearer,
  counted,
  installed,
  kindOf,
  principalOf,
  requestWith,
  session,
} from '../support/identity.ts'

const HOUR_MS = 3_600_000

eachDatabase('sessions and the times of last use', ({ open }) => {
  test('a change with the cookie needs the token of its session, a bearer does not', async () => {
    const identity = await installed(await open())
    const authenticator = authenticatorOf(identity)
    const [mine, other] = [await session(identity), await session(identity)]
    const { cookie, token } = mine
    for (const token of [undefined, '', other.csrf_token]) {
      const headers: Record<string, string> = token === undefined ? { cookie } : { cookie, 'x-csrf-token': token }
      assert.deepEqual(await authenticator.authenticate(requestWith(headers, 'POST')), { kind: 'bad', reason: 'csrf' })
      assert.equal(await kindOf(authenticator, requestWith(headers, 'GET')), 'ok')
    }
    assert.equal(await kindOf(authenticator, requestWith({ cookie, 'x-csrf-token': mine.csrf_token }, 'DELETE')), 'ok')
    assert.equal(await kindOf(authenticator, requestWith({ authorization: `Bearer ${token}` }, 'POST')), 'ok')
    await authenticator.close()
  })

  test('a session ends when it idles, however short, and not while it is used', async () => {
    const clock = new FakeClock()
    const identity = await installed(await open(), clock)
    const { db, statements } = counted(identity.db)
    const authenticator = authenticatorOf({ ...identity, db }, { sessionIdleMs: 60_000 })
    const { token } = await session(identity)
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(50_000)
      assert.equal(await kindOf(authenticator, bearer(token)), 'ok', `after ${minute} rounds`)
    }
    const before = statements()
    await clock.advance(6_000)
    assert.equal(statements(), before + 1, 'other nodes learn of it long before it would look idle to them')
    // The last use is in memory only by then.
    for (const ms of [53_000, 2_000]) {
      await clock.advance(ms)
      assert.equal(await kindOf(authenticator, bearer(token)), 'ok', `${ms} ms later`)
    }
    await clock.advance(60_000)
    assert.equal(await kindOf(authenticator, bearer(token)), 'bad')
    assert.equal(await kindOf(authenticator, bearer(token)), 'bad')
    await authenticator.close()
  })

  test('a session ends after its longest life, also when the limit was lowered since', async () => {
    const clock = new FakeClock()
    const identity = await installed(await open(), clock)
    const { token } = await session(identity, 2 * HOUR_MS)
    const [long, short] = [24, 1].map((hours) =>
      authenticatorOf(identity, { sessionMaxMs: hours * HOUR_MS, sessionIdleMs: 24 * HOUR_MS }),
    )
    await clock.advance(HOUR_MS + 1)
    assert.deepEqual(
      [await kindOf(long as Authenticator, bearer(token)), await kindOf(short as Authenticator, bearer(token))],
      ['ok', 'bad'],
    )
    await clock.advance(HOUR_MS)
    assert.equal(await kindOf(long as Authenticator, bearer(token)), 'bad')
  })

  test('the time of last use is written later, at most once a minute, and never moved back', async () => {
    const clock = new FakeClock()
    const identity = await installed(await open(), clock)
    const { db, statements } = counted(identity.db)
    const authenticator = authenticatorOf({ ...identity, db })
    const lastUse = async () => {
      const { last_used_at } = await identity.db.query
        .selectFrom('access_tokens')
        .select('last_used_at')
        .executeTakeFirstOrThrow()
      return last_used_at
    }
    for (let i = 0; i < 100; i++) await authenticator.authenticate(bearer(ADMIN.admin_token))
    assert.deepEqual([statements(), await lastUse()], [1, null])
    const usedBefore = clock.now()
    await authenticator.close()
    const written = await lastUse()
    assert.ok(written !== null && written < usedBefore)
    assert.equal(statements(), 2)
    const stale = authenticatorOf({ ...identity, clock: new FakeClock('2020-01-01T00:00:00Z') })
    await stale.authenticate(bearer(ADMIN.admin_token))
    await stale.close()
    assert.equal(await lastUse(), written)
  })

  test('who of several is calling is known by the secret, and only its time of last use is written', async () => {
    const clock = new FakeClock()
    const identity = await installed(await open(), clock)
    const { db, credentials, operator, administratorId: userId } = identity
    const authenticator = authenticatorOf(identity)
    const sessions = [await session(identity), await session(identity)]
    const expiresAt = clock.now() + HOUR_MS * MICROS_PER_MS
    const made = await credentials.createToken(operator, { userId, name: 'second', scopes: null, expiresAt })
    const start = Math.floor(clock.now() / 1_000_000)
    await clock.advance(1_000)
    const [, second] = sessions
    const ids: (string | null)[] = []
    for (const { token } of sessions) ids.push((await principalOf(authenticator, bearer(token))).credentialId)
    assert.equal(new Set(ids).size, 2)
    await clock.advance(1_000)
    await principalOf(authenticator, bearer(second?.token ?? ''))
    await principalOf(authenticator, bearer(made.plain))
    await authenticator.close()
    const seen = await db.query.selectFrom('sessions').select(['id', 'last_seen_at']).execute()
    const seconds = ids.map((id) => Math.floor((seen.find((row) => row.id === id)?.last_seen_at ?? 0) / 1_000_000))
    assert.deepEqual(seconds, [start + 1, start + 2])
    const used = await db.query.selectFrom('access_tokens').select(['id', 'last_used_at']).execute()
    assert.deepEqual(
      used.filter(({ last_used_at }) => last_used_at !== null).map(({ id }) => id),
      [made.id],
    )
    const stale = authenticatorOf({ ...identity, clock: new FakeClock('2020-01-01T00:00:00Z') })
    await principalOf(stale, bearer(second?.token ?? ''))
    await stale.close()
    assert.deepEqual(await db.query.selectFrom('sessions').select(['id', 'last_seen_at']).execute(), seen)
  })
})
