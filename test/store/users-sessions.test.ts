import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MICROS_PER_SECOND } from '../../src/platform/clock/clock.ts'
import { requireRecentSignIn } from '../../src/users/sign-in/recent-authentication.ts'
import { accounts } from '../support/accounts.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { bearer, kindOf } from '../support/identity.ts'

const ADA = 'ada@example.org'

eachDatabase('sessions of a user', ({ open, openAgain }) => {
  test('a sign-in makes a session whose token is known to its user alone, and says when it was', async () => {
    const clock = new FakeClock()
    const { person, signIn, sessions, operator, db, authenticator } = await accounts(await open(), clock)
    const userId = await person(ADA)
    const { user, session } = await signIn(ADA)
    assert.ok(user.lastLoginAt !== null && user.lastLoginAt > user.modifiedAt)
    assert.equal(await kindOf(authenticator, bearer(session.token)), 'ok')
    const [listed, ...others] = await sessions.list(operator, { userId })
    assert.deepEqual(others, [])
    assert.equal(listed?.id, session.id)
    assert.deepEqual([listed?.clientAddress, listed?.userAgent], ['192.0.2.1', 'test'])
    const rows = JSON.stringify(await db.query.selectFrom('sessions').selectAll().execute())
    assert.equal(rows.includes(session.token), false)
    const { login_key } = await db.query
      .selectFrom('users')
      .select('login_key')
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    assert.equal(login_key, user.lastLoginAt)
    await authenticator.close()
  })

  test('one that is revoked opens nothing from then on; the others stay', async () => {
    const { person, signIn, sessions, principal, authenticator } = await accounts(await open())
    const userId = await person(ADA)
    const [mine, other] = [await signIn(ADA), await signIn(ADA)]
    const caller = await principal(mine.session.token)
    await principal(other.session.token)
    await sessions.revoke(caller, { userId, sessionId: other.session.id })
    assert.equal(await kindOf(authenticator, bearer(other.session.token)), 'bad')
    assert.equal(await kindOf(authenticator, bearer(mine.session.token)), 'ok')
    await assert.rejects(sessions.revoke(caller, { userId, sessionId: other.session.id }), { code: 'not_found' })
    await sessions.revokeAll(caller, { userId })
    assert.equal(await kindOf(authenticator, bearer(mine.session.token)), 'bad')
    await authenticator.close()
  })

  test('a session of somebody else is not found among mine, and does not end with them', async () => {
    const { person, signIn, sessions, principal, authenticator } = await accounts(await open())
    const ada = await person(ADA)
    await person('bob@example.org')
    const [mine, other] = [await signIn(ADA), await signIn('bob@example.org')]
    const caller = await principal(mine.session.token)
    await assert.rejects(sessions.revoke(caller, { userId: ada, sessionId: other.session.id }), { code: 'not_found' })
    const listed = await sessions.list(caller, { userId: ada })
    assert.deepEqual(
      listed.map(({ id }) => id),
      [mine.session.id],
    )
    await sessions.revokeAll(caller, { userId: ada })
    assert.equal(await kindOf(authenticator, bearer(mine.session.token)), 'bad')
    assert.equal(await kindOf(authenticator, bearer(other.session.token)), 'ok')
    await authenticator.close()
  })

  test('revocation reaches another process', async () => {
    const db = await open()
    const { person, signIn, sessions, operator, authenticator } = await accounts(db)
    const userId = await person(ADA)
    const { session } = await signIn(ADA)
    await using again = await openAgain(db)
    const other = await accounts(again)
    assert.equal(await kindOf(other.authenticator, bearer(session.token)), 'ok')
    // On SQLite there is one process, and what another one would remember ends by its age.
    const heard =
      db.engine === 'postgres' ? new Promise<void>((resolve) => other.changes.listen(resolve)) : Promise.resolve()
    await sessions.revokeAll(operator, { userId })
    await heard
    if (db.engine === 'postgres') assert.equal(await kindOf(other.authenticator, bearer(session.token)), 'bad')
    assert.equal(await kindOf(authenticator, bearer(session.token)), 'bad')
    await other.authenticator.close()
    other.changes.close()
    await authenticator.close()
  })

  test('a user keeps the hundred newest', async () => {
    const { person, signIn, sessions, operator, db } = await accounts(await open())
    const userId = await person(ADA)
    await person('bob@example.org')
    const other = await signIn('bob@example.org')
    const { user } = await signIn(ADA)
    const first = (await sessions.list(operator, { userId })).at(-1)
    for (let count = 0; count < 100; count++) await db.write((tx) => sessions.startSession(tx, user))
    const listed = await sessions.list(operator, { userId })
    assert.equal(listed.length, 100)
    assert.equal((await sessions.list(operator, { userId: other.user.id })).length, 1, 'those of others do not count')
    assert.equal(
      listed.some(({ id }) => id === first?.id),
      false,
    )
  })

  test('what idled or lived too long is no longer listed, and is removed by and by', async () => {
    const clock = new FakeClock()
    const world = await accounts(await open(), clock, { session_idle: 3_600_000, session_max: 7_200_000 })
    const { person, signIn, sessions, operator, db } = world
    const userId = await person(ADA)
    await signIn(ADA)
    await clock.advance(1_800_000)
    const { session } = await signIn(ADA)
    assert.equal((await sessions.list(operator, { userId })).length, 2)
    await clock.advance(1_800_001)
    assert.deepEqual(
      (await sessions.list(operator, { userId })).map(({ id }) => id),
      [session.id],
    )
    assert.equal(await sessions.purge(), 0, 'it may have been used, which is written down later')
    await clock.advance(300_000)
    assert.equal(await sessions.purge(), 1)
    await db.write((tx) =>
      tx.query
        .updateTable('sessions')
        .set({ last_seen_at: clock.now() + 1e10 })
        .execute(),
    )
    await clock.advance(5_400_000)
    assert.equal(await sessions.purge(), 1)
    assert.equal(await sessions.purge(), 0)
  })

  test('the sign-in counts as recent for ten minutes; a token is never asked for one', async () => {
    const clock = new FakeClock()
    const { person, signIn, principal, operator, db, authenticator } = await accounts(await open(), clock)
    await person(ADA)
    const caller = await principal((await signIn(ADA)).session.token)
    await clock.advance(599_000)
    await requireRecentSignIn(db, caller, clock.now())
    await clock.advance(2_000)
    await assert.rejects(requireRecentSignIn(db, caller, clock.now()), { code: 'permission_denied' })
    await requireRecentSignIn(db, operator, clock.now())
    await requireRecentSignIn(db, { ...caller, method: 'token' }, clock.now())
    await authenticator.close()
  })

  test('a sign-in by a clock that was ahead and has been set back since does not count as recent', async () => {
    const clock = new FakeClock()
    const { person, signIn, principal, db, authenticator } = await accounts(await open(), clock)
    await person(ADA)
    const caller = await principal((await signIn(ADA)).session.token)
    const ago = (seconds: number) => clock.now() - seconds * MICROS_PER_SECOND
    await requireRecentSignIn(db, caller, ago(59))
    for (const seconds of [61, 7_200]) {
      const refusal = { code: 'permission_denied', message: /^Sign in again/ }
      await assert.rejects(requireRecentSignIn(db, caller, ago(seconds)), refusal)
    }
    await authenticator.close()
  })

  test('the own address needs a recent sign-in by whatever way it is changed; that of others does not', async () => {
    const clock = new FakeClock()
    const { person, signIn, principal, users, authenticator } = await accounts(await open(), clock)
    const [ada, bob] = [await person(ADA, 'admin'), await person('bob@example.org')]
    const caller = await principal((await signIn(ADA)).session.token)
    await clock.advance(601_000)
    const email = 'new@example.org'
    for (const own of [true, undefined]) {
      const change = users.update(caller, { userId: ada, email, own })
      await assert.rejects(change, { code: 'permission_denied', message: /^Sign in again/ })
    }
    assert.equal((await users.update(caller, { userId: bob, email })).email, email)
    await authenticator.close()
  })
})
