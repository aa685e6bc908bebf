import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { UserId } from '../../src/platform/auth/principal.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { statusOf } from '../../src/users/invitation/invitation.ts'
import { findPasswordHash } from '../../src/users/sign-in/store-passwords.ts'
import { findUser } from '../../src/users/user/store-users.ts'
import { PASSWORD } from '../support/accounts.ts'
import { eachDatabase } from '../support/each-database.ts'
import { invitationBench } from '../support/invitations.ts'

const HOUR = 3_600_000

function notValid(error: unknown): boolean {
  return isAppError(error, 'not_found') && error.message === 'Invitation is not valid'
}

eachDatabase('invitations', ({ open }) => {
  it('names every user that cannot be invited in one pass, and then invites nobody', async () => {
    const { db, users, operator, pending, invitations } = await invitationBench(await open())
    const good = await pending('good@example.org')
    const active = (await users.create(operator, { email: 'active@example.org', vouchedFor: true })).id
    const disabled = await pending('disabled@example.org')
    await users.disable(operator, { userId: disabled })
    const service = await pending('robot@example.org')
    await db.write((tx) =>
      tx.query.updateTable('users').set({ service_account: 1 }).where('id', '=', service).execute(),
    )
    const unknown = newId<'User'>()
    const userIds = [good, active, disabled, service, unknown, 'nonsense', good.toUpperCase()]
    await assert.rejects(invitations.send(operator, { userIds }), (error) => {
      assert.ok(isAppError(error, 'invalid_argument'))
      assert.deepEqual(error.problems, [
        `User ${active} is already active`,
        `User ${disabled} is disabled`,
        `User ${service} is a service account`,
        `User ${unknown} not found`,
        'User nonsense not found',
        `User ${good} is named more than once`,
      ])
      return true
    })
    assert.deepEqual(await db.query.selectFrom('user_invitations').selectAll().execute(), [])
  })

  it('answers a hundred in the order they were asked for', async () => {
    const { db, clock, operator, pending, invitations, actions } = await invitationBench(await open())
    const userIds: UserId[] = []
    for (let i = 0; i < 100; i++) userIds.push(await pending(`user${i}@example.org`))
    const { invitations: sent } = await invitations.send(operator, { userIds })
    assert.deepEqual(
      sent.map(({ userId }) => userId),
      userIds,
    )
    assert.ok(sent.every(({ expiresAt, createdAt }) => expiresAt - createdAt === 48 * HOUR * 1_000))
    assert.ok(sent.every((one) => statusOf(one, clock.now()) === 'pending'))
    assert.equal((await actions()).filter((action) => action === 'invitation.sent').length, 100)
    assert.equal((await db.query.selectFrom('mails').selectAll().execute()).length, 0)
  })

  it('keeps no token, only its hash', async () => {
    const { db, pending, invite } = await invitationBench(await open())
    const { token } = await invite(await pending('ada@example.org'))
    assert.match(token, /^[A-Za-z0-9_-]{43}$/)
    const rows = await db.query.selectFrom('user_invitations').selectAll().execute()
    assert.equal(JSON.stringify(rows).includes(token), false)
    assert.match(rows[0]?.token_hash ?? '', /^[0-9a-f]{64}$/)
  })

  it('makes a person of whoever accepts: active, verified, with a password and a session', async () => {
    const bench = await invitationBench(await open())
    const { db, organizationId, pending, invite, invitations, signIn, principal, actions } = bench
    const id = await pending('ada@example.org')
    const { token, invitation } = await invite(id)
    const accepted = await invitations.accept({ token, password: PASSWORD, name: '  Ada ' })
    const user = await findUser(db, organizationId, id)
    assert.deepEqual(
      [user?.status, user?.verified, user?.name, user?.lastLoginAt === accepted.user.lastLoginAt],
      ['Active', true, 'Ada', true],
    )
    assert.equal((await principal(accepted.session.token)).userId, id)
    assert.equal((await signIn('ada@example.org')).user.id, id)
    const stored = await invitations.get(bench.operator, { id: invitation.id })
    assert.deepEqual([stored.state, stored.acceptedAt !== null], ['accepted', true])
    assert.deepEqual(await actions(), ['invitation.sent', 'invitation.accepted'])
  })

  it('starts no session past a second factor, and stays open until it is proved', async () => {
    const { db, clock, person, enrolled, invite, invitations } = await invitationBench(await open())
    const id = await person('ada@example.org')
    const { codeAt, codes } = await enrolled('ada@example.org')
    await db.write((tx) => tx.query.updateTable('users').set({ status: 'Pending' }).where('id', '=', id).execute())
    const { token } = await invite(id)
    const before = await findPasswordHash(db, id)
    const accept = (totp?: string) => invitations.accept({ token, password: `${PASSWORD} 2`, totp })
    await clock.advance(60_000)
    await assert.rejects(accept(), { code: 'unauthenticated', message: 'TOTP code required' })
    await assert.rejects(accept(`${codes[0]}x`), { code: 'unauthenticated', message: 'Sign-in failed' })
    assert.equal(await findPasswordHash(db, id), before)
    assert.equal((await accept(codeAt(clock.now()))).user.status, 'Active')
    await assert.rejects(accept(codes[0]), notValid)
    const events = await db.query
      .selectFrom('audit_events')
      .select('auth_method')
      .where('action', 'like', 'session.%')
      .orderBy('position')
      .execute()
    assert.deepEqual(
      events.map((event) => event.auth_method),
      ['password', 'invitation', 'invitation+totp'],
    )
  })

  it('lets exactly one of many simultaneous acceptances win', async () => {
    const { pending, invite, invitations, db } = await invitationBench(await open())
    const { token } = await invite(await pending('ada@example.org'))
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => invitations.accept({ token, password: `${PASSWORD} ${i}` })),
    )
    const won = tries.filter((one) => one.status === 'fulfilled')
    assert.equal(won.length, 1)
    for (const one of tries) if (one.status === 'rejected') assert.ok(notValid(one.reason), String(one.reason))
    assert.equal((await db.query.selectFrom('sessions').selectAll().execute()).length, 1)
  })

  it('refuses every bad token with the same words, before it looks at the password', async () => {
    const { clock, users, operator, pending, invite, invitations } = await invitationBench(await open())
    const used = await invite(await pending('used@example.org'))
    await invitations.accept({ token: used.token, password: PASSWORD })
    const replaced = await pending('replaced@example.org')
    const old = await invite(replaced)
    await invite(replaced)
    const disabled = await pending('disabled@example.org')
    const sleeping = await invite(disabled)
    await users.disable(operator, { userId: disabled })
    const late = await invite(await pending('late@example.org'))
    await clock.advance(49 * HOUR)
    for (const token of [used.token, old.token, sleeping.token, late.token, 'A'.repeat(43), '', 'x'.repeat(4_000)]) {
      await assert.rejects(invitations.accept({ token, password: 'short' }), notValid)
      await assert.rejects(invitations.lookUp({ token }), notValid)
    }
  })

  it('refuses weak passwords and long names together, and the token stays good', async () => {
    const { pending, invite, invitations } = await invitationBench(await open())
    const { token } = await invite(await pending('ada.of.london@example.org'))
    const refused = async (input: object, ...problems: RegExp[]) =>
      assert.rejects(invitations.accept({ token, ...input }), (error) => {
        assert.ok(isAppError(error, 'invalid_argument'))
        assert.equal(error.problems.length, problems.length)
        for (const [at, problem] of problems.entries()) assert.match(error.problems[at] as string, problem)
        return true
      })
    await refused({}, /^data\.attributes\.password is required$/)
    await refused({ password: 'short' }, /^data\.attributes\.password must have at least 12 characters$/)
    await refused({ password: 'Ada.of.London@example.org' }, /must not be the email address/)
    await refused({ password: 'password1234' }, /first that anybody would try/)
    await refused({ name: 'x'.repeat(256) }, /password is required/, /^data\.attributes\.name must have at most 255/)
    assert.equal((await invitations.lookUp({ token })).email, 'ada.of.london@example.org')
    await invitations.accept({ token, password: PASSWORD })
  })

  it('needs and keeps no password where people sign in elsewhere', async () => {
    const bench = await invitationBench(await open(), { login_methods: ['oidc'] })
    const id = await bench.pending('ada@example.org')
    const { token } = await bench.invite(id)
    const { user } = await bench.invitations.accept({ token, password: 'short' })
    assert.equal(user.status, 'Active')
    assert.equal(await findPasswordHash(bench.db, id), null)
  })

  it('revokes an earlier invitation when a newer is sent, but leaves an expired one expired', async () => {
    const { clock, operator, pending, invite, invitations, actions } = await invitationBench(await open())
    const id = await pending('ada@example.org')
    const first = await invite(id)
    await clock.advance(49 * HOUR)
    const second = await invite(id)
    const third = await invite(id)
    const statuses = []
    for (const { invitation } of [first, second, third]) {
      statuses.push(statusOf(await invitations.get(operator, { id: invitation.id }), clock.now()))
    }
    assert.deepEqual(statuses, ['expired', 'revoked', 'pending'])
    assert.deepEqual(await actions(), ['invitation.sent', 'invitation.sent', 'invitation.revoked', 'invitation.sent'])
    await invitations.accept({ token: third.token, password: PASSWORD })
  })

  it('revokes what is pending on demand, counts it once, and leaves the user pending', async () => {
    const { db, organizationId, operator, pending, invite, invitations } = await invitationBench(await open())
    const id = await pending('ada@example.org')
    const { token } = await invite(id)
    assert.equal(await invitations.revokeAll(operator, { userId: id }), 1)
    assert.equal(await invitations.revokeAll(operator, { userId: id }), 0)
    await assert.rejects(invitations.accept({ token, password: PASSWORD }), notValid)
    assert.equal((await findUser(db, organizationId, id))?.status, 'Pending')
    await assert.rejects(invitations.revokeAll(operator, { userId: newId() }), /User .* not found/)
  })

  it('revokes the invitation that went to an address which is no longer the user’s', async () => {
    const { db, operator, organizationId, pending, invite, invitations, changeEmail } = await invitationBench(
      await open(),
    )
    const id = await pending('typo@example.org')
    const { token } = await invite(id)
    const before = await findUser(db, organizationId, id)
    assert.ok(before)
    const by = { kind: operator.kind, id: null, method: 'cli', credentialId: null }
    await changeEmail({ before, after: { ...before, email: 'right@example.org' }, actor: by })
    await assert.rejects(invitations.lookUp({ token }), notValid)
  })

  it('revokes the invitation of a user whom an operator makes Active', async () => {
    const { users, operator, pending, invite, invitations } = await invitationBench(await open())
    const userId = await pending('ada@example.org')
    const { invitation } = await invite(userId)
    await users.enable(operator, { userId, vouchedFor: true })
    assert.equal((await invitations.get(operator, { id: invitation.id })).state, 'revoked')
  })

  it('lists newest first, by status and by user, with counts that match', async () => {
    const { clock, operator, pending, invite, invitations } = await invitationBench(await open())
    const ids = []
    for (const name of ['expired', 'accepted', 'revoked', 'pending']) ids.push(await pending(`${name}@example.org`))
    const [expired, accepted, revoked, open_] = ids as [UserId, UserId, UserId, UserId]
    await invite(expired)
    await clock.advance(49 * HOUR)
    const { token } = await invite(accepted)
    await invitations.accept({ token, password: PASSWORD })
    await invite(revoked)
    await invitations.revokeAll(operator, { userId: revoked })
    await invite(open_)
    const list = async (filter: Parameters<typeof invitations.list>[1]['filter'], size = 10, number = 0) => {
      const { invitations: found, counts } = await invitations.list(operator, { filter, page: { size, number } })
      assert.equal(counts.total, 4)
      return { users: found.map(({ userId }) => userId), filtered: counts.filtered }
    }
    assert.deepEqual(await list({}), { users: [open_, revoked, accepted, expired], filtered: 4 })
    assert.deepEqual(await list({}, 3, 1), { users: [expired], filtered: 4 })
    assert.deepEqual(await list({}, 100, 1e14), { users: [], filtered: 4 })
    assert.deepEqual(await list({ statuses: ['pending'] }), { users: [open_], filtered: 1 })
    assert.deepEqual(await list({ statuses: ['expired'] }), { users: [expired], filtered: 1 })
    assert.deepEqual(await list({ statuses: ['accepted', 'accepted'] }), { users: [accepted], filtered: 1 })
    assert.deepEqual(await list({ statuses: ['revoked', 'pending', 'expired'] }), {
      users: [open_, revoked, expired],
      filtered: 3,
    })
    assert.deepEqual(await list({ userIds: [accepted, expired] }), { users: [accepted, expired], filtered: 2 })
    assert.deepEqual(await list({ userIds: [accepted], statuses: ['pending'] }), { users: [], filtered: 0 })
    assert.deepEqual(await list({ userIds: [] }), { users: [], filtered: 0 })
  })
})
