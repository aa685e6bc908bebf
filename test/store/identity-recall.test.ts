import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecentTexts } from '../../src/platform/auth/recent-texts.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  ADMIN,
  authenticatorOf,
  bearer,
  installed,
  kindOf,
  principalOf,
  requestWith,
  session,
} from '../support/identity.ts'

const KEYS = { 'x-api-key': ADMIN.api_key, 'x-application-key': ADMIN.application_key }

eachDatabase('credentials that were seen a moment ago', ({ open }) => {
  test('are judged from memory as they were from the database, again and again', async () => {
    const identity = await installed(await open())
    const authenticator = authenticatorOf(identity)
    const { token, cookie } = await session(identity)
    for (const source of [bearer(ADMIN.admin_token), bearer(token), requestWith(KEYS), requestWith({ cookie })]) {
      assert.equal(authenticator.recall(source), undefined)
      const principal = await principalOf(authenticator, source)
      for (let times = 0; times < 3; times++) assert.deepEqual(authenticator.recall(source), { kind: 'ok', principal })
    }
    await authenticator.close()
  })

  test('are looked up again after a change, and after a second', async () => {
    const clock = new FakeClock()
    const identity = await installed(await open(), clock)
    const authenticator = authenticatorOf(identity)
    const source = requestWith(KEYS)
    for (const forget of [() => authenticator.invalidate(), () => clock.advance(1_000)]) {
      await principalOf(authenticator, source)
      assert.equal(authenticator.recall(source)?.kind, 'ok')
      assert.equal(authenticator.recall(source)?.kind, 'ok')
      await forget()
      assert.equal(authenticator.recall(source), undefined)
    }
    await authenticator.close()
  })

  test('are not mistaken for others that share a header with them', async () => {
    const identity = await installed(await open())
    const { users, credentials, operator } = identity
    const authenticator = authenticatorOf(identity)
    const user = await users.create(operator, { email: `${newId()}@example.org`, vouchedFor: true })
    const key = await credentials.createApplicationKey(operator, { userId: user.id, name: 'test', scopes: null })
    const basic = { authorization: 'Basic YTpi' }
    const ours = requestWith({ ...KEYS, ...basic })
    const theirs = requestWith({ ...KEYS, ...basic, 'x-application-key': key.plain })
    for (const source of [ours, theirs]) await principalOf(authenticator, source)
    for (let times = 0; times < 2; times++) {
      for (const [source, userId] of [
        [ours, identity.administratorId],
        [theirs, user.id],
      ] as const) {
        const recalled = authenticator.recall(source)
        assert.equal(recalled?.kind === 'ok' && recalled.principal.userId, userId)
      }
    }
    const halfWrong = requestWith({ ...KEYS, 'x-api-key': key.plain.slice(0, 32) })
    assert.equal(authenticator.recall(halfWrong), undefined)
    assert.equal(await kindOf(authenticator, halfWrong), 'bad')
    assert.equal(authenticator.recall(requestWith(basic)), undefined)
    assert.equal(await kindOf(authenticator, requestWith(basic)), 'none')
    await authenticator.close()
  })
})

test('texts are forgotten together a moment after the first of them, used or not', async () => {
  const clock = new FakeClock()
  const recent = new RecentTexts<number>({ clock, maxAgeMs: 1_000, maxSize: 10 })
  recent.keep('a', 1)
  await clock.advance(999)
  recent.keep('b', 2)
  assert.deepEqual([recent.get('a'), recent.get('b')], [1, 2])
  await clock.advance(1)
  assert.equal(recent.size, 0)
  recent.keep('c', 3)
  await clock.advance(1_000)
  assert.equal(recent.size, 0)
  assert.equal(clock.waiting, 0)
})

test('no more texts are kept than agreed', () => {
  const recent = new RecentTexts<number>({ clock: new FakeClock(), maxAgeMs: 1_000, maxSize: 2 })
  for (const [made, text] of ['a', 'b', 'c'].entries()) recent.keep(text, made)
  assert.deepEqual([recent.size, recent.get('a'), recent.get('c')], [2, 0, undefined])
})
