import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import { accounts, STEP_MICROS } from '../support/accounts.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { kindOf, requestWith } from '../support/identity.ts'

const ADA = 'ada@example.org'
const FAILED = { code: 'unauthenticated', message: 'Sign-in failed' }
const CODE_REQUIRED = { code: 'unauthenticated', message: 'TOTP code required' }

eachDatabase('second factors', ({ open }) => {
  test('a code is asked for after the right password only, and signs in', async () => {
    const clock = new FakeClock()
    const { person, signIn, enrolled } = await accounts(await open(), clock)
    await person(ADA)
    const { codeAt } = await enrolled(ADA)
    await clock.advance(60_000)
    await assert.rejects(signIn(ADA), CODE_REQUIRED)
    await assert.rejects(signIn(ADA, ' '), CODE_REQUIRED)
    await assert.rejects(signIn(ADA, null, 'not the password'), FAILED)
    await assert.rejects(signIn(ADA, codeAt(clock.now()), 'not the password'), FAILED)
    const spaced = codeAt(clock.now()).replace(/^(...)/, '$1 ')
    assert.equal((await signIn(ADA, spaced)).user.email, ADA)
  })

  test('a code works once, and none of an earlier time after it', async () => {
    const clock = new FakeClock()
    const { person, signIn, enrolled } = await accounts(await open(), clock)
    await person(ADA)
    const { codeAt } = await enrolled(ADA)
    // The code that confirmed the enrolment is used up.
    await assert.rejects(signIn(ADA, codeAt(clock.now())), FAILED)
    await clock.advance(60_000)
    const [before, now, after] = [-1, 0, 1].map((step) => codeAt(clock.now() + step * STEP_MICROS))
    await signIn(ADA, now)
    await assert.rejects(signIn(ADA, now), FAILED)
    await assert.rejects(signIn(ADA, before), FAILED)
    await signIn(ADA, after)
    await assert.rejects(signIn(ADA, after), FAILED)
  })

  test('of two who send the same code at the same moment one gets in', async () => {
    const clock = new FakeClock()
    const { person, signIn, enrolled } = await accounts(await open(), clock)
    await person(ADA)
    const { codeAt, codes } = await enrolled(ADA)
    await clock.advance(60_000)
    for (const code of [codeAt(clock.now()), codes[0] as string]) {
      const results = await Promise.allSettled([signIn(ADA, code), signIn(ADA, code)])
      assert.deepEqual(results.map((result) => result.status).sort(), ['fulfilled', 'rejected'])
    }
  })

  test('a clock may be off by one step, and not by two', async () => {
    const clock = new FakeClock()
    const { person, signIn, enrolled } = await accounts(await open(), clock)
    await person(ADA)
    const { codeAt } = await enrolled(ADA)
    await clock.advance(300_000)
    await assert.rejects(signIn(ADA, codeAt(clock.now() - 2 * STEP_MICROS)), FAILED)
    await assert.rejects(signIn(ADA, codeAt(clock.now() + 2 * STEP_MICROS)), FAILED)
    await signIn(ADA, codeAt(clock.now() - STEP_MICROS))
    await signIn(ADA, codeAt(clock.now() + STEP_MICROS))
  })

  test('each recovery code replaces a code once', async () => {
    const { person, signIn, enrolled, db } = await accounts(await open())
    await person(ADA)
    const { codes } = await enrolled(ADA)
    assert.equal(codes.length, 10)
    await signIn(ADA, codes[3])
    await assert.rejects(signIn(ADA, codes[3]), FAILED)
    await signIn(ADA, codes[4]?.toUpperCase().replaceAll('-', ''))
    await assert.rejects(signIn(ADA, 'aaaa-aaaa-aaaa-aaaa'), FAILED)
    const kept = JSON.stringify(await db.query.selectFrom('recovery_codes').selectAll().execute())
    for (const code of codes) assert.equal(kept.includes(code) || kept.includes(code.replaceAll('-', '')), false)
  })

  test('the secret is stored for its own row only, and cannot be read there', async () => {
    const { person, enrolled, db, signIn } = await accounts(await open())
    const [ada, bob] = [await person(ADA), await person('bob@example.org')]
    const { secret } = await enrolled(ADA)
    await enrolled('bob@example.org')
    const rows = await db.query.selectFrom('user_totp').selectAll().execute()
    assert.equal(JSON.stringify(rows).includes(secret), false)
    const stolen = rows.find((row) => row.user_id === ada)?.secret as string
    await db.write((tx) =>
      tx.query.updateTable('user_totp').set({ secret: stolen }).where('user_id', '=', bob).execute(),
    )
    await assert.rejects(signIn('bob@example.org', '123456'), (error) => isAppError(error, 'internal'))
  })

  test('an enrolment counts once it is confirmed, and can be begun anew until then', async () => {
    const { person, signIn, principal, totp } = await accounts(await open())
    await person(ADA)
    const caller = await principal((await signIn(ADA)).session.token)
    await assert.rejects(totp.confirm(caller, { code: '000000' }), { code: 'failed_precondition' })
    const first = await totp.enrol(caller)
    const second = await totp.enrol(caller)
    assert.notEqual(first.secret, second.secret)
    assert.match(
      second.uri,
      /^otpauth:\/\/totp\/Commonplace:ada%40example\.org\?secret=[A-Z2-7]{32}&issuer=Commonplace/,
    )
    await assert.rejects(totp.confirm(caller, { code: 'nonsense' }), { code: 'invalid_argument' })
    assert.equal((await signIn(ADA)).user.email, ADA)
  })

  test('whoever has one removes it before enrolling another', async () => {
    const { person, signIn, enrolled, totp } = await accounts(await open())
    await person(ADA)
    const { caller } = await enrolled(ADA)
    await assert.rejects(totp.enrol(caller), { code: 'conflict' })
    await assert.rejects(totp.confirm(caller, { code: '123456' }), { code: 'conflict' })
    await totp.remove(caller)
    await assert.rejects(totp.remove(caller), { code: 'not_found' })
    assert.equal((await signIn(ADA)).user.email, ADA)
  })

  test('an administrator can reset it but learns nothing; both are in the audit log', async () => {
    const { person, signIn, enrolled, totp, operator, db } = await accounts(await open())
    const ada = await person(ADA)
    await enrolled(ADA)
    await totp.reset(operator, { userId: ada })
    await signIn(ADA)
    assert.deepEqual(await db.query.selectFrom('recovery_codes').selectAll().execute(), [])
    const events = await db.query
      .selectFrom('audit_events')
      .select(['action', 'target_id', 'actor_kind'])
      .where('action', 'like', 'mfa.%')
      .orderBy('position')
      .execute()
    assert.deepEqual(
      events.map((event) => ({ ...event })),
      [
        { action: 'mfa.enrolled', target_id: ada, actor_kind: 'user' },
        { action: 'mfa.removed', target_id: ada, actor_kind: 'system' },
      ],
    )
  })

  test('enrolling and removing need a fresh sign-in', async () => {
    const clock = new FakeClock()
    const { person, signIn, principal, enrolled, totp } = await accounts(await open(), clock)
    await person(ADA)
    const { caller, codeAt } = await enrolled(ADA)
    await clock.advance(601_000)
    await assert.rejects(totp.remove(caller), { code: 'permission_denied', message: /^Sign in again/ })
    const { session } = await signIn(ADA, codeAt(clock.now()))
    await totp.remove(await principal(session.token))
    await assert.rejects(totp.enrol(caller), { code: 'permission_denied' })
  })

  test('a policy takes every permission from a session without a second factor, until there is one', async () => {
    for (const [policy, role, mustEnrol] of [
      ['off', 'admin', false],
      ['admins', 'standard', false],
      ['admins', 'admin', true],
      ['all', 'standard', true],
    ] as const) {
      const world = await accounts(await open(), new FakeClock(), { require_mfa: policy })
      await world.person(ADA, role)
      const { session } = await world.signIn(ADA)
      assert.equal(session.mustEnrol, mustEnrol, `${policy} ${role}`)
      const before = await world.principal(session.token)
      assert.deepEqual([before.permissions.size === 0, before.mustEnrol], [mustEnrol, mustEnrol], `${policy} ${role}`)
      const { caller } = await world.enrolled(ADA)
      const after = await world.principal(session.token)
      assert.ok(after.permissions.size > 0 && !after.mustEnrol)
      await world.totp.remove({ ...caller, permissions: after.permissions })
      assert.equal((await world.principal(session.token)).permissions.size === 0, mustEnrol)
      await world.authenticator.close()
    }
  })

  test('neither a second factor that was not confirmed nor that of somebody else is enough for a policy', async () => {
    const world = await accounts(await open(), new FakeClock(), { require_mfa: 'all' })
    await world.person(ADA, 'standard')
    await world.person('bob@example.org', 'standard')
    await world.enrolled('bob@example.org')
    const { session } = await world.signIn(ADA)
    await world.totp.enrol(await world.principal(session.token))
    world.authenticator.invalidate()
    const { permissions, mustEnrol } = await world.principal(session.token)
    assert.deepEqual([permissions.size, mustEnrol], [0, true])
    await world.authenticator.close()
  })

  test('a policy does not concern tokens', async () => {
    const world = await accounts(await open(), new FakeClock(), { require_mfa: 'all' })
    const admin = 'test-admin-token-0123456789-abcdefghij'
    const answer = await world.authenticator.authenticate(requestWith({ authorization: `Bearer ${admin}` }))
    assert.ok(answer.kind === 'ok' && answer.principal.permissions.size > 0)
    assert.equal(await kindOf(world.authenticator, requestWith({})), 'none')
    await world.authenticator.close()
  })
})
