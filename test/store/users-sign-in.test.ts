import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintLink } from '../../src/users/invitation/user-links.ts'
import { SignInService } from '../../src/users/sign-in/sign-in-service.ts'
import { userDocument } from '../../src/users/user/user-document.ts'
import { accounts, PASSWORD } from '../support/accounts.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { bearer, counted, kindOf } from '../support/identity.ts'

const ADA = 'ada@example.org'
const FAILED = { code: 'unauthenticated', message: 'Sign-in failed' }
const NEW_PASSWORD = 'quite another password'

eachDatabase('signing in', ({ open }) => {
  test('the address may be typed in any case, and the password must be exact', async () => {
    const { person, signIn } = await accounts(await open())
    await person(ADA)
    assert.equal((await signIn(' Ada@Example.ORG ')).user.email, ADA)
    for (const wrong of ['', PASSWORD.toUpperCase(), `${PASSWORD} `]) {
      await assert.rejects(signIn(ADA, null, wrong), FAILED)
    }
  })

  test('whoever may not sign in learns no more than a stranger', async () => {
    const { person, signIn, users, operator, db } = await accounts(await open())
    for (const email of ['', 'nobody@example.org', 'not an address', 'x'.repeat(5_000), 'a\0b@example.org']) {
      await assert.rejects(signIn(email), FAILED)
    }
    const pending = await users.create(operator, { email: 'pending@example.org' })
    await users.setPassword(operator, { userId: pending.id, password: PASSWORD })
    await assert.rejects(signIn('pending@example.org'), FAILED)
    const disabled = await person('disabled@example.org')
    await users.disable(operator, { userId: disabled })
    await assert.rejects(signIn('disabled@example.org'), FAILED)
    await users.create(operator, { email: 'without@example.org', vouchedFor: true })
    await assert.rejects(signIn('without@example.org'), FAILED)
    const elsewhere = await person('elsewhere@example.org')
    await db.write((tx) =>
      tx.query.updateTable('users').set({ allowed_login_methods: '["oidc"]' }).where('id', '=', elsewhere).execute(),
    )
    await assert.rejects(signIn('elsewhere@example.org'), FAILED)
    const robot = await person('robot@example.org')
    await db.write((tx) => tx.query.updateTable('users').set({ service_account: 1 }).where('id', '=', robot).execute())
    await assert.rejects(signIn('robot@example.org'), FAILED)
  })

  test('nobody signs in with a password where that is not a login method', async () => {
    const { person, signIn } = await accounts(await open(), new FakeClock(), { login_methods: ['oidc'] })
    await person(ADA)
    await assert.rejects(signIn(ADA), FAILED)
  })

  test('an unknown address costs the same statements as a wrong password', async () => {
    const world = await accounts(await open())
    await world.person(ADA)
    const costs = []
    for (const email of [ADA, 'nobody@example.org', 'not an address']) {
      const { db, statements } = counted(world.db)
      const signIns = new SignInService({ ...world, db })
      await assert.rejects(signIns.signIn({ email, password: 'wrong', code: null }), FAILED)
      costs.push(statements())
    }
    assert.equal(new Set(costs).size, 1, `${costs}`)
  })

  test('every sign-in and every failure is in the audit log, without what was typed', async () => {
    const { person, signIn, db, enrolled } = await accounts(await open())
    const ada = await person(ADA)
    await assert.rejects(signIn(ADA, null, 'wrong password typed'))
    await assert.rejects(signIn('nobody@example.org'))
    const { session } = await enrolled(ADA)
    await assert.rejects(signIn(ADA, 'wrong-code'))
    const events = await db.query
      .selectFrom('audit_events')
      .selectAll()
      .where('action', 'like', 'session.%')
      .orderBy('position')
      .execute()
    assert.deepEqual(
      events.map(({ action, outcome, target_id, changes }) => [action, outcome, target_id, changes]),
      [
        ['session.failed', 'failure', ada, '{"reason":{"new":"wrong_password"}}'],
        ['session.failed', 'failure', null, '{"reason":{"new":"unknown_user"}}'],
        ['session.started', 'success', session.id, '{}'],
        ['session.failed', 'failure', ada, '{"reason":{"new":"wrong_code"}}'],
      ],
    )
    assert.ok(events.every((event) => event.client_address === '192.0.2.1'))
    assert.doesNotMatch(JSON.stringify(events), /typed|nobody|example/)
  })
})

eachDatabase('passwords', ({ open }) => {
  test('a change needs the current one and ends the other sessions', async () => {
    const { person, signIn, principal, passwords, authenticator } = await accounts(await open())
    await person(ADA)
    const [mine, other] = [await signIn(ADA), await signIn(ADA)]
    const caller = await principal(mine.session.token)
    const change = (current: string, next: string) => passwords.change(caller, { current, new: next })
    await assert.rejects(change('not the password', NEW_PASSWORD), { code: 'permission_denied' })
    await assert.rejects(change(PASSWORD, 'short'), {
      code: 'invalid_argument',
      message: /^data\.attributes\.new must/,
    })
    await assert.rejects(change(PASSWORD, ADA), { code: 'invalid_argument' })
    assert.equal(await kindOf(authenticator, bearer(other.session.token)), 'ok')
    await change(PASSWORD, NEW_PASSWORD)
    assert.equal(await kindOf(authenticator, bearer(other.session.token)), 'bad')
    assert.equal(await kindOf(authenticator, bearer(mine.session.token)), 'ok')
    await assert.rejects(signIn(ADA), FAILED)
    await signIn(ADA, null, NEW_PASSWORD)
    await authenticator.close()
  })

  test('whoever signs in has the picture that the settings name, as everywhere', async () => {
    const { person, signIn, db } = await accounts(await open())
    await person(ADA)
    const { user } = await signIn(ADA)
    const iconOf = async (icon_provider: 'local' | 'gravatar') => {
      const { data } = await userDocument(db, user, {
        baseUrl: () => 'https://know.example',
        settings: { icon_provider },
      })
      return new URL(data.attributes.icon).hostname
    }
    assert.equal(await iconOf('local'), 'know.example')
    assert.match(await iconOf('gravatar'), /gravatar/)
  })

  test('a reset is queued for an Active user, and looks the same for everybody else', async () => {
    const world = await accounts(await open())
    const { person, passwords, jobs, users, operator, db } = world
    // Nobody has the address yet, and this still waits when somebody does.
    await passwords.requestReset({ email: ADA })
    const ada = await person(ADA)
    const gone = await person('gone@example.org')
    await users.disable(operator, { userId: gone })
    await users.create(operator, { email: 'pending@example.org' })
    for (const email of [ADA, 'gone@example.org', 'pending@example.org', 'nobody@example.org', 'nonsense', 'a\0b']) {
      await passwords.requestReset({ email })
    }
    const waiting = () => db.query.selectFrom('jobs').select('id').where('kind', '=', 'users.password-reset').execute()
    while ((await waiting()).length > 0) {
      await jobs.tick()
      await jobs.whenIdle()
    }
    const mails = await db.query.selectFrom('mails').select(['user_id', 'purpose', 'recipient']).execute()
    assert.deepEqual(
      mails.map((mail) => ({ ...mail })),
      [{ user_id: ada, purpose: 'password_reset', recipient: ADA }],
    )
    await jobs.stop()
  })

  test('a reset link works once, for the address it went to, and ends every session', async () => {
    const clock = new FakeClock()
    const { person, signIn, passwords, db, authenticator } = await accounts(await open(), clock)
    const userId = await person(ADA)
    const { session } = await signIn(ADA)
    const link = (email: string) => {
      const now = clock.now()
      return db.write((tx) => mintLink(tx, { userId, purpose: 'password_reset', email, ttlMs: 3_600_000, now }))
    }
    const invalid = { code: 'not_found', message: 'Password reset is not valid' }
    for (const token of ['', 'nonsense', 'a'.repeat(43), await link('old@example.org')]) {
      await assert.rejects(passwords.confirmReset({ token, password: NEW_PASSWORD }), invalid)
    }
    const token = await link(ADA)
    await assert.rejects(passwords.confirmReset({ token, password: 'short' }), { code: 'invalid_argument' })
    await assert.rejects(passwords.confirmReset({ token, password: ADA }), { code: 'invalid_argument' })
    assert.equal(await kindOf(authenticator, bearer(session.token)), 'ok')
    assert.equal((await passwords.confirmReset({ token, password: NEW_PASSWORD })).id, userId)
    assert.equal(await kindOf(authenticator, bearer(session.token)), 'bad')
    await assert.rejects(passwords.confirmReset({ token, password: NEW_PASSWORD }), invalid)
    await assert.rejects(signIn(ADA), FAILED)
    await signIn(ADA, null, NEW_PASSWORD)
    const late = await link(ADA)
    await clock.advance(3_600_001)
    await assert.rejects(passwords.confirmReset({ token: late, password: PASSWORD }), invalid)
    await authenticator.close()
  })

  test('a reset link opens nothing for somebody who was disabled meanwhile, and does not replace a second factor', async () => {
    const clock = new FakeClock()
    const { person, signIn, passwords, users, operator, enrolled, db } = await accounts(await open(), clock)
    const [ada, bob] = [await person(ADA), await person('bob@example.org')]
    const now = clock.now()
    const tokens = await db.write(async (tx) => {
      const common = { purpose: 'setup', ttlMs: 1_000_000, now } as const
      return [await mintLink(tx, { userId: ada, ...common }), await mintLink(tx, { userId: bob, ...common })] as const
    })
    await enrolled(ADA)
    await passwords.confirmReset({ token: tokens[0], password: NEW_PASSWORD })
    await assert.rejects(signIn(ADA, null, NEW_PASSWORD), { message: 'TOTP code required' })
    await users.disable(operator, { userId: bob })
    await assert.rejects(passwords.confirmReset({ token: tokens[1], password: NEW_PASSWORD }), { code: 'not_found' })
  })
})
