import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorPrincipal, type Principal } from '../../src/platform/auth/principal.ts'
import { MICROS_PER_SECOND } from '../../src/platform/clock/clock.ts'
import { DOMAIN } from '../../src/platform/config/formats.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { resolveRole, resolveUser, ServiceAccountService } from '../../src/users/index.ts'
import { type LinkPurpose, mintLink, takeLink } from '../../src/users/invitation/user-links.ts'
import { verifyPassword } from '../../src/users/sign-in/password.ts'
import { findPasswordHash } from '../../src/users/sign-in/store-passwords.ts'
import { UserService } from '../../src/users/user/user-service.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type Identity, installed } from '../support/identity.ts'

const DAY = 86_400 * MICROS_PER_SECOND

async function actions(db: Database): Promise<string[]> {
  const rows = await db.query.selectFrom('audit_events').select('action').orderBy('position').execute()
  return rows.map((row) => row.action)
}

async function roleId({ db, operator }: Identity, name: string) {
  return (await resolveRole(db, operator, name)).id
}

function as(identity: Identity, userId: string, permissions: string[]): Principal {
  return { ...identity.operator, kind: 'user', userId: userId as never, permissions: new Set(permissions) as never }
}

eachDatabase('users', ({ open, openAgain }) => {
  test('a new user is Pending, unverified and without a role, and its handle is the address', async () => {
    const identity = await installed(await open())
    const { users, operator, db } = identity
    const user = await users.create(operator, { email: ' Ada@Example.org ', name: '  ', title: ' Engineer ' })
    assert.deepEqual(
      [user.email, user.handle, user.name, user.title, user.status, user.verified],
      ['ada@example.org', 'ada@example.org', null, 'Engineer', 'Pending', false],
    )
    assert.deepEqual(await resolveUser(db, operator, 'ADA@example.org'), user)
    assert.deepEqual(
      (await users.list(operator, { limit: 10 })).map(({ roles }) => roles.length),
      [0, 1],
    )
  })

  test('bad input creates nothing and says what is wrong', async () => {
    const { users, operator, db } = await installed(await open())
    await assert.rejects(users.create(operator, { email: 'nobody' }), { code: 'invalid_argument', message: /email/ })
    await assert.rejects(users.create(operator, { email: 'a@b', name: 'x'.repeat(256) }), {
      code: 'invalid_argument',
      message: /name/,
    })
    for (const id of [newId(), 'no id', 'a\0b', '\ud800']) {
      await assert.rejects(users.create(operator, { email: 'a@b', roleIds: [id] }), {
        code: 'invalid_argument',
        message: /Role .* not found/,
      })
    }
    assert.equal((await users.list(operator, { limit: 10 })).length, 1)
    assert.equal((await actions(db)).filter((action) => action === 'user.created').length, 1)
  })

  test('addresses outside the allowed domains are refused', async () => {
    const { db, clock, changes, operator } = await installed(await open())
    const settings = { password_min_length: 12, allowed_email_domains: ['Example.org'] }
    const users = new UserService({ db, clock, changes, settings })
    await assert.rejects(users.create(operator, { email: 'ada@sub.example.org' }), { code: 'invalid_argument' })
    await users.create(operator, { email: 'ada@example.org' })
  })

  test('an address in an allowed domain is let in however the domain is written', async () => {
    const { db, clock, changes, operator } = await installed(await open())
    // As the settings keep it.
    const settings = { password_min_length: 12, allowed_email_domains: [DOMAIN.parse('Grüße.example') as string] }
    const users = new UserService({ db, clock, changes, settings })
    const { id, email } = await users.create(operator, { email: 'ada@Grüße.example' })
    assert.equal(email, 'ada@grüße.example')
    await users.update(operator, { userId: id, email: 'ada.l@xn--gre-6ka8l.example' })
    await assert.rejects(users.create(operator, { email: 'eve@grusse.example' }), { code: 'invalid_argument' })
  })

  test('of several who create the same address at the same moment one succeeds', async () => {
    const db = await open()
    const first = await installed(db)
    const second = await installed(await openAgain(db))
    const tries = [first, second, first, second].map(({ users, operator }, i) =>
      users.create(operator, { email: i % 2 ? 'ada@example.org' : 'ADA@example.org' }),
    )
    const results = await Promise.allSettled(tries)
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const result of results) {
      if (result.status === 'rejected')
        assert.deepEqual(
          [result.reason.code, result.reason.message],
          ['conflict', 'A user with email ada@example.org already exists'],
        )
    }
  })

  test('every page but the last is full, and no user is missed or shown twice', async () => {
    const { users, operator } = await installed(await open())
    for (let i = 0; i < 7; i++) await users.create(operator, { email: `user-${i}@example.org` })
    const seen: string[] = []
    let after: { email: string; id: never } | undefined
    for (;;) {
      const page = await users.list(operator, { limit: 3, after })
      seen.push(...page.map(({ email }) => email))
      if (page.length < 3) break
      after = page.at(-1) as never
    }
    assert.deepEqual(seen, ['admin@example.org', ...[0, 1, 2, 3, 4, 5, 6].map((i) => `user-${i}@example.org`)])
    assert.deepEqual(
      (await users.list(operator, { limit: 9, status: 'Active' })).map(({ email }) => email),
      ['admin@example.org'],
    )
  })

  test('disabling keeps roles and keys, ends tokens, and is undone by enabling', async () => {
    const identity = await installed(await open())
    const { users, credentials, operator, db, clock } = identity
    const user = await users.create(operator, {
      email: 'a@example.org',
      vouchedFor: true,
      roleIds: [await roleId(identity, 'standard')],
    })
    const key = { userId: user.id, name: 'k', scopes: null }
    await credentials.createToken(operator, { ...key, expiresAt: clock.now() + DAY })
    await credentials.createKeyPair(operator, key)
    assert.equal(await users.disable(operator, { userId: user.id }), true)
    assert.equal(await users.disable(operator, { userId: user.id }), false)
    const list = await credentials.list(operator, { userId: user.id })
    assert.deepEqual([list.tokens.length, list.applicationKeys.length], [0, 1])
    await assert.rejects(credentials.createToken(operator, { ...key, expiresAt: clock.now() + DAY }), {
      code: 'invalid_argument',
      message: /disabled/,
    })
    const enabled = await users.enable(operator, { userId: user.id })
    assert.deepEqual([enabled.status, enabled.changed], ['Active', true])
    const [listed] = (await users.list(operator, { limit: 9 })).filter(({ id }) => id === user.id)
    assert.deepEqual(
      listed?.roles.map(({ name }) => name),
      ['Platform Standard Role'],
    )
    assert.ok((listed?.modifiedAt as number) > user.modifiedAt)
    assert.deepEqual((await actions(db)).slice(-5), [
      'token.created',
      'key.created',
      'key.created',
      'user.disabled',
      'user.enabled',
    ])
  })

  test('an unverified user comes back as Pending unless somebody vouches for the address', async () => {
    const { users, operator } = await installed(await open())
    const user = await users.create(operator, { email: 'a@example.org' })
    await users.disable(operator, { userId: user.id })
    assert.equal((await users.enable(operator, { userId: user.id })).status, 'Pending')
    assert.equal((await users.enable(operator, { userId: user.id })).changed, false)
    const vouched = await users.enable(operator, { userId: user.id, vouchedFor: true })
    assert.deepEqual([vouched.status, vouched.verified, vouched.changed], ['Active', true, true])
  })

  test('somebody vouches for the new address of an Active user, which is in the log', async () => {
    const { db, users, operator } = await installed(await open())
    const { id: userId } = await users.create(operator, { email: 'a@example.org', vouchedFor: true })
    await users.update(operator, { userId, email: 'b@example.org' })
    assert.equal((await users.enable(operator, { userId })).changed, false)
    const vouched = await users.enable(operator, { userId, vouchedFor: true })
    assert.deepEqual([vouched.status, vouched.verified, vouched.changed], ['Active', true, true])
    assert.deepEqual((await actions(db)).slice(-2), ['user.email_changed', 'user.updated'])
    assert.equal((await users.enable(operator, { userId, vouchedFor: true })).changed, false)
    await users.disable(operator, { userId })
    assert.equal((await users.enable(operator, { userId })).status, 'Active')
  })

  test('an unknown user, or one of another organization, is not found', async () => {
    const { users, operator, administratorId, db } = await installed(await open())
    const missing = { code: 'not_found' }
    await assert.rejects(users.disable(operator, { userId: newId() }), missing)
    await assert.rejects(users.enable(operator, { userId: newId() }), missing)
    const stranger = operatorPrincipal(newId())
    await assert.rejects(users.disable(stranger, { userId: administratorId }), missing)
    await assert.rejects(
      users.setPassword(stranger, { userId: administratorId, password: 'four words make it' }),
      missing,
    )
    for (const text of ['', 'x', 'nobody@example.org', newId()])
      await assert.rejects(resolveUser(db, operator, text), missing)
    for (const text of ['', 'x', newId()]) await assert.rejects(resolveRole(db, operator, text), missing)
  })

  test('an address names the service account that has it, while no other one and no person does', async () => {
    const { db, clock, changes, users, operator } = await installed(await open())
    const accounts = new ServiceAccountService({ db, clock, changes, settings: { allowed_email_domains: [] } })
    const email = 'bot@example.org'
    const first = await accounts.create(operator, { email })
    assert.equal((await resolveUser(db, operator, email)).id, first.id)
    await accounts.create(operator, { email })
    await assert.rejects(resolveUser(db, operator, email), { code: 'invalid_argument', message: /give the id/ })
    const person = await users.create(operator, { email })
    assert.equal((await resolveUser(db, operator, email)).id, person.id)
  })

  test('the last administrator cannot be disabled or leave the role', async () => {
    const identity = await installed(await open())
    const { users, operator, administratorId } = identity
    const adminRole = await roleId(identity, 'admin')
    const denied = (verb: string) => ({
      code: 'permission_denied',
      message: `The last administrator cannot be ${verb}`,
    })
    await users.create(operator, { email: 'pending@example.org', roleIds: [adminRole] })
    await assert.rejects(users.disable(operator, { userId: administratorId }), denied('disabled'))
    await assert.rejects(users.removeRole(operator, { userId: administratorId, roleId: adminRole }), denied('removed'))
    const second = await users.create(operator, { email: 'b@example.org', vouchedFor: true, roleIds: [adminRole] })
    assert.equal(await users.disable(operator, { userId: administratorId }), true)
    await assert.rejects(users.disable(operator, { userId: second.id }), denied('disabled'))
  })

  test('two administrators who disable each other at the same moment leave one', async () => {
    for (let round = 0; round < 5; round++) {
      const db = await open()
      const identity = await installed(db)
      const other = await installed(await openAgain(db))
      const { users, operator, administratorId } = identity
      const second = await users.create(operator, {
        email: 'b@example.org',
        vouchedFor: true,
        roleIds: [await roleId(identity, 'admin')],
      })
      const results = await Promise.allSettled([
        users.disable(as(identity, second.id, ['admin']), { userId: administratorId }),
        other.users.disable(as(identity, administratorId, ['admin']), { userId: second.id }),
      ])
      const failure = results.find((result) => result.status === 'rejected')
      assert.equal(failure?.reason.message, 'The last administrator cannot be disabled')
      assert.equal((await users.list(operator, { limit: 9, status: 'Active' })).length, 1)
    }
  })

  test('nobody disables their own account', async () => {
    const identity = await installed(await open())
    const self = as(identity, identity.administratorId, ['admin'])
    const denied = { code: 'permission_denied', message: 'You cannot disable your own account' }
    await assert.rejects(identity.users.disable(self, { userId: identity.administratorId }), denied)
  })

  test('nobody gives a role that holds more than their own permissions', async () => {
    const identity = await installed(await open())
    const { users, operator } = identity
    const user = await users.create(operator, { email: 'a@example.org', vouchedFor: true })
    const manager = as(identity, user.id, ['user_access_manage', 'user_access_invite', 'user_access_read'])
    const [standard, admin] = [await roleId(identity, 'standard'), await roleId(identity, 'Platform Admin Role')]
    const denied = { code: 'permission_denied', message: /^You cannot grant a permission you do not have: / }
    await assert.rejects(users.addRole(manager, { userId: user.id, roleId: admin }), denied)
    await assert.rejects(users.create(manager, { email: 'b@example.org', roleIds: [standard] }), denied)
    assert.equal((await users.list(operator, { limit: 9 })).length, 2)
    assert.equal(await users.addRole(operator, { userId: user.id, roleId: standard }), true)
    assert.equal(await users.addRole(operator, { userId: user.id, roleId: standard }), false)
    assert.equal(await users.removeRole(manager, { userId: user.id, roleId: standard }), true)
    assert.equal(await users.removeRole(manager, { userId: user.id, roleId: standard }), false)
  })

  test('a password is stored as a hash, ends sessions, and leaves no trace in the audit log', async () => {
    const identity = await installed(await open())
    const { users, operator, administratorId, db } = identity
    await assert.rejects(users.setPassword(operator, { userId: administratorId, password: 'short' }), {
      code: 'invalid_argument',
    })
    assert.equal(await findPasswordHash(db, administratorId), null)
    for (const password of ['four words make it', 'five words make it too']) {
      await users.setPassword(operator, { userId: administratorId, password })
      assert.equal(await verifyPassword(await findPasswordHash(db, administratorId), password), true)
    }
    const events = await db.query.selectFrom('audit_events').selectAll().execute()
    assert.doesNotMatch(JSON.stringify(events), /words make it|argon2/)
    assert.deepEqual((await actions(db)).slice(-2), ['user.updated', 'user.updated'])
  })

  test('a password that an operator sets ends the links under which another one could be chosen', async () => {
    const { users, operator, administratorId: userId, db, clock } = await installed(await open())
    const purposes = ['setup', 'password_reset', 'email_verification'] as const
    const minted = (purpose: LinkPurpose) => ({ userId, purpose, ttlMs: 60_000, now: clock.now() })
    const tokens = await db.write(async (tx) => {
      const made: [LinkPurpose, string][] = []
      for (const purpose of purposes) made.push([purpose, await mintLink(tx, minted(purpose))])
      return made
    })
    await users.setPassword(operator, { userId, password: 'four words make it' })
    const good = await db.write(async (tx) => {
      const taken: LinkPurpose[] = []
      for (const [purpose, token] of tokens) if (await takeLink(tx, purpose, token, clock.now())) taken.push(purpose)
      return taken
    })
    assert.deepEqual(good, ['email_verification'])
  })

  test('every change names who did it, in the same transaction', async () => {
    const identity = await installed(await open())
    const caller = {
      ...as(identity, identity.administratorId, ['admin']),
      method: 'token',
      credentialId: 'c1',
    } as Principal
    const client = { address: '192.0.2.1', userAgent: 'test', requestId: 'r1' }
    const user = await identity.users.create(caller, { email: 'a@example.org' }, client)
    const event = await identity.db.query
      .selectFrom('audit_events')
      .selectAll()
      .orderBy('position', 'desc')
      .executeTakeFirstOrThrow()
    assert.deepEqual(
      [
        event.action,
        event.actor_kind,
        event.actor_id,
        event.auth_method,
        event.credential_id,
        event.target_id,
        event.client_address,
        event.request_id,
      ],
      ['user.created', 'user', identity.administratorId, 'token', 'c1', user.id, '192.0.2.1', 'r1'],
    )
  })
})

eachDatabase('tokens and keys', ({ open }) => {
  test('a secret is answered once and only its hash is kept', async () => {
    const { credentials, operator, administratorId, db, clock } = await installed(await open())
    const token = await credentials.createToken(operator, {
      userId: administratorId,
      name: ' ci ',
      scopes: null,
      expiresAt: clock.now() + DAY,
    })
    const pair = await credentials.createKeyPair(operator, {
      userId: administratorId,
      name: 'pair',
      scopes: ['notes_read', 'notes_read'],
    })
    assert.deepEqual([token.name, pair.applicationKey.scopes], ['ci', ['notes_read']])
    const list = await credentials.list(operator, { userId: null })
    assert.deepEqual([list.tokens.length, list.applicationKeys.length, list.apiKeys.length], [2, 2, 2])
    const rows = [
      await db.query.selectFrom('access_tokens').selectAll().execute(),
      await db.query.selectFrom('application_keys').selectAll().execute(),
      await db.query.selectFrom('api_keys').selectAll().execute(),
      await db.query.selectFrom('audit_events').selectAll().execute(),
    ]
    const stored = JSON.stringify([rows, list])
    for (const { plain } of [token, pair.apiKey, pair.applicationKey]) assert.equal(stored.includes(plain), false)
    assert.equal(list.tokens[1]?.last4, token.plain.slice(-4))
  })

  test('bad names, scopes and times are refused', async () => {
    const { credentials, operator, administratorId, clock } = await installed(await open())
    const good = { userId: administratorId, name: 'x', scopes: null, expiresAt: clock.now() + DAY }
    for (const bad of [
      { name: '  ' },
      { name: 'x'.repeat(256) },
      { scopes: ['notes_read', 'everything'] },
      { expiresAt: clock.now() },
      { expiresAt: clock.now() + 400 * DAY },
    ]) {
      await assert.rejects(credentials.createToken(operator, { ...good, ...bad }), { code: 'invalid_argument' })
    }
    await assert.rejects(credentials.createToken(operator, { ...good, userId: newId() }), { code: 'not_found' })
    assert.equal((await credentials.list(operator, { userId: null })).tokens.length, 1)
  })

  test('revoking works once, for each kind, within the own organization', async () => {
    const { credentials, operator, administratorId, clock } = await installed(await open())
    const key = { userId: administratorId, name: 'x', scopes: null }
    const token = await credentials.createToken(operator, { ...key, expiresAt: clock.now() + DAY })
    const { apiKey, applicationKey } = await credentials.createKeyPair(operator, key)
    const stranger = operatorPrincipal(newId())
    for (const { id } of [token, apiKey, applicationKey]) {
      await assert.rejects(credentials.revoke(stranger, { id }), { code: 'not_found' })
      await credentials.revoke(operator, { id })
      await assert.rejects(credentials.revoke(operator, { id }), { code: 'not_found' })
    }
  })

  test('a key pair does not revoke its own API key', async () => {
    const { credentials, operator, administratorId } = await installed(await open())
    const { apiKey } = await credentials.createKeyPair(operator, { userId: administratorId, name: 'x', scopes: null })
    const caller = { ...operator, apiKeyId: apiKey.id }
    await assert.rejects(credentials.revoke(caller, { id: apiKey.id }), { code: 'permission_denied' })
  })
})
