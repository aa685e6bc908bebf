import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintSessionToken } from '../../src/platform/auth/secrets.ts'
import { MICROS_PER_MS, MICROS_PER_SECOND } from '../../src/platform/clock/clock.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { resolveRole } from '../../src/users/index.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import {
  ADMIN,
  authenticatorOf,
  bearer,
  counted,
  type Identity,
  installed,
  kindOf,
  principalOf,
  requestWith,
  session,
} from '../support/identity.ts'

const KEYS = { 'dd-api-key': ADMIN.api_key, 'dd-application-key': ADMIN.application_key }
const UNKNOWN = 'pat_0123456789012345678901_0123456789012345678901234567890123456789012'
const DAY = 86_400 * MICROS_PER_SECOND

/** An Active user with a token. */
async function member({ users, credentials, operator, clock }: Identity, scopes: string[] | null = null) {
  const user = await users.create(operator, { email: `${newId()}@example.org`, vouchedFor: true })
  const key = { userId: user.id, name: 'test', scopes, expiresAt: clock.now() + DAY }
  const token = await credentials.createToken(operator, key)
  return { user, token }
}

eachDatabase('authentication', ({ engine, open, openAgain }) => {
  test('each scheme names its owner, its method and its credential', async () => {
    const identity = await installed(await open())
    const authenticator = authenticatorOf(identity)
    const { id, token, cookie, csrf_token } = await session(identity)
    const byToken = await principalOf(authenticator, bearer(ADMIN.admin_token))
    assert.deepEqual(
      [byToken.kind, byToken.method, byToken.userId, byToken.csrfToken],
      ['user', 'token', identity.administratorId, null],
    )
    const byKeys = await principalOf(authenticator, requestWith(KEYS))
    assert.deepEqual(
      [byKeys.method, byKeys.userId, byKeys.organizationId],
      ['key_pair', identity.administratorId, identity.organizationId],
    )
    const { applicationKeys, apiKeys } = await identity.credentials.list(identity.operator, { userId: null })
    assert.deepEqual([byKeys.credentialId, byKeys.apiKeyId], [applicationKeys[0]?.id, apiKeys[0]?.id])
    const bySession = await principalOf(authenticator, bearer(token))
    assert.deepEqual([bySession.method, bySession.credentialId, bySession.csrfToken], ['session', id, csrf_token])
    const byCookie = await principalOf(authenticator, requestWith({ cookie }))
    assert.deepEqual([byCookie.method, byCookie.credentialId, byCookie.csrfToken], ['cookie', id, csrf_token])
    await authenticator.close()
  })

  test('the first scheme that is present decides alone', async () => {
    const identity = await installed(await open())
    const authenticator = authenticatorOf(identity)
    const { cookie } = await session(identity)
    const good = { ...KEYS, cookie }
    assert.equal(await kindOf(authenticator, requestWith({ authorization: `Bearer ${UNKNOWN}`, ...good })), 'bad')
    const wrongKeys = { 'dd-api-key': ADMIN.api_key, 'dd-application-key': 'f'.repeat(40) }
    assert.equal(await kindOf(authenticator, requestWith({ ...wrongKeys, cookie })), 'bad')
    assert.equal((await principalOf(authenticator, requestWith(good))).method, 'key_pair')
    assert.equal(
      (await principalOf(authenticator, requestWith({ cookie, 'dd-api-key': ADMIN.api_key }))).method,
      'cookie',
    )
    await authenticator.close()
  })

  test('nothing, or half a pair, is no authentication; a wrong secret is a bad one', async () => {
    const identity = await installed(await open())
    const authenticator = authenticatorOf(identity)
    assert.equal(await kindOf(authenticator, requestWith({})), 'none')
    assert.equal(await kindOf(authenticator, requestWith({ 'x-api-key': ADMIN.api_key })), 'none')
    assert.equal(await kindOf(authenticator, requestWith({ authorization: 'Basic QQ==' })), 'none')
    const sessionToken = mintSessionToken().plain
    for (const source of [
      bearer(UNKNOWN),
      bearer('x'),
      bearer('a'.repeat(65_536)),
      bearer(sessionToken),
      requestWith({ cookie: `commonplace_session=${sessionToken}` }),
      requestWith({ 'x-api-key': 'e'.repeat(32), 'x-application-key': ADMIN.application_key }),
      requestWith({ 'x-api-key': ADMIN.application_key, 'x-application-key': ADMIN.api_key }),
    ]) {
      assert.deepEqual(await authenticator.authenticate(source), { kind: 'bad' })
    }
  })

  test('one secret does not pass for another: a hash, a session id or a key is no token', async () => {
    const identity = await installed(await open())
    const authenticator = authenticatorOf(identity)
    const { secret_hash, id } = await session(identity)
    for (const token of [secret_hash, id, ADMIN.api_key, ADMIN.application_key]) {
      assert.equal(await kindOf(authenticator, bearer(token)), 'bad')
    }
  })

  test('a look-up is exactly one statement, and none for a second', async () => {
    const clock = new FakeClock()
    const identity = await installed(await open(), clock)
    const { cookie, token } = await session(identity)
    const sources = [
      bearer(ADMIN.admin_token),
      bearer(UNKNOWN),
      requestWith(KEYS),
      bearer(token),
      requestWith({ cookie }),
    ]
    for (const source of sources) {
      const { db, statements } = counted(identity.db)
      const authenticator = authenticatorOf({ ...identity, db })
      await Promise.all([1, 2, 3].map(() => authenticator.authenticate(source)))
      await clock.advance(999)
      await authenticator.authenticate(source)
      assert.equal(statements(), 1)
      await clock.advance(1)
      await authenticator.authenticate(source)
      assert.equal(statements(), 2)
    }
  })

  test('malformed credentials never reach the database', async () => {
    const identity = await installed(await open())
    const { db, statements } = counted(identity.db)
    const authenticator = authenticatorOf({ ...identity, db })
    for (const token of ['', 'short', 'a'.repeat(65_536), `${ADMIN.admin_token}\u0000`, "' or 1=1 --".repeat(5)]) {
      assert.equal(await kindOf(authenticator, bearer(token)), 'bad')
    }
    assert.equal(statements(), 0)
  })

  test('a token stops at the very moment it expires, cached or not', async () => {
    const clock = new FakeClock()
    const identity = await installed(await open(), clock)
    const authenticator = authenticatorOf(identity)
    const { user } = await member(identity)
    const expiresAt = clock.now() + 500 * MICROS_PER_MS
    const token = await identity.credentials.createToken(identity.operator, {
      userId: user.id,
      name: 'short',
      scopes: null,
      expiresAt,
    })
    assert.equal(await kindOf(authenticator, bearer(token.plain)), 'ok')
    await clock.advance(501)
    assert.equal(await kindOf(authenticator, bearer(token.plain)), 'bad')
  })

  test('revoking and disabling act on the next request of this process', async () => {
    const identity = await installed(await open(), new FakeClock())
    const { users, credentials, operator } = identity
    const authenticator = authenticatorOf(identity)
    const { user, token } = await member(identity)
    const { apiKey, applicationKey } = await credentials.createKeyPair(operator, {
      userId: user.id,
      name: 'pair',
      scopes: null,
    })
    const pair = requestWith({ 'x-api-key': apiKey.plain, 'x-application-key': applicationKey.plain })
    const second = await credentials.createToken(operator, {
      userId: user.id,
      name: '2',
      scopes: null,
      expiresAt: identity.clock.now() + DAY,
    })
    for (const source of [bearer(token.plain), bearer(second.plain), pair])
      assert.equal(await kindOf(authenticator, source), 'ok')
    await credentials.revoke(operator, { id: token.id })
    assert.equal(await kindOf(authenticator, bearer(token.plain)), 'bad')
    await users.disable(operator, { userId: user.id })
    for (const source of [bearer(second.plain), pair]) assert.equal(await kindOf(authenticator, source), 'bad')
    await users.enable(operator, { userId: user.id })
    // Application keys slept; tokens are gone.
    assert.equal(await kindOf(authenticator, pair), 'ok')
    assert.equal(await kindOf(authenticator, bearer(second.plain)), 'bad')
    await credentials.revoke(operator, { id: apiKey.id })
    assert.equal(await kindOf(authenticator, pair), 'bad')
  })

  test('a change by another process acts within a second', async () => {
    const db = await open()
    const clock = new FakeClock()
    const identity = await installed(db, clock)
    const other = await installed(await openAgain(db), clock)
    const authenticator = authenticatorOf(identity)
    const { user, token } = await member(identity)
    assert.equal(await kindOf(authenticator, bearer(token.plain)), 'ok')
    await other.users.disable(other.operator, { userId: user.id })
    await clock.advance(1_000)
    assert.equal(await kindOf(authenticator, bearer(token.plain)), 'bad')
  })

  if (engine === 'postgres') {
    test('a change by another process acts as soon as its signal arrives', async () => {
      const db = await open()
      const clock = new FakeClock()
      const identity = await installed(db, clock)
      const other = await installed(await openAgain(db), clock)
      const authenticator = authenticatorOf(identity)
      const { user, token } = await member(identity)
      assert.equal(await kindOf(authenticator, bearer(token.plain)), 'ok')
      // Signals come in the order of their commits. Those of 'identity' tell of the person, too, who was just made.
      const arrived = new Promise<void>((resolve) => db.subscribe('afterwards', () => resolve()))
      await other.users.disable(other.operator, { userId: user.id })
      await other.db.write(async (tx) => tx.signal('afterwards'))
      await arrived
      assert.equal(await kindOf(authenticator, bearer(token.plain)), 'bad')
    })
  }

  test('roles that are given and taken change what the next request may do', async () => {
    const identity = await installed(await open(), new FakeClock())
    const { users, operator, db } = identity
    const authenticator = authenticatorOf(identity)
    const { user, token } = await member(identity)
    const permissions = async () => [...(await principalOf(authenticator, bearer(token.plain))).permissions].toSorted()
    assert.deepEqual(await permissions(), [])
    const roles = await db.query.selectFrom('roles').select(['id', 'managed']).execute()
    const [readOnly, standard] = ['read_only', 'standard'].map((key) => roles.find((role) => role.managed === key))
    for (const role of [readOnly, standard])
      await users.addRole(operator, { userId: user.id, roleId: role?.id as never })
    assert.equal((await permissions()).length, 10)
    await users.removeRole(operator, { userId: user.id, roleId: standard?.id as never })
    assert.deepEqual(await permissions(), [
      'callbacks_read',
      'notes_read',
      'projects_read',
      'user_access_read',
      'user_self_profile_write',
    ])
  })

  test('a scope narrows its owner and never lifts it', async () => {
    const identity = await installed(await open())
    const authenticator = authenticatorOf(identity)
    const { administratorId, credentials, operator, clock } = identity
    const expiresAt = clock.now() + DAY
    const scoped = await credentials.createToken(operator, {
      userId: administratorId,
      name: 's',
      scopes: ['notes_read', 'notes_write'],
      expiresAt,
    })
    const { permissions } = await principalOf(authenticator, bearer(scoped.plain))
    assert.deepEqual([...permissions].toSorted(), ['notes_read', 'notes_write'])
    const { token } = await member(identity, ['admin'])
    assert.deepEqual([...(await principalOf(authenticator, bearer(token.plain))).permissions], [])
  })

  test('a user who is not Active gets in by no scheme', async () => {
    const identity = await installed(await open())
    const authenticator = authenticatorOf(identity)
    const user = await identity.users.create(identity.operator, { email: 'pending@example.org' })
    const expiresAt = identity.clock.now() + DAY
    const token = await identity.credentials.createToken(identity.operator, {
      userId: user.id,
      name: 't',
      scopes: null,
      expiresAt,
    })
    const { token: sessionToken } = await session({ ...identity, administratorId: user.id })
    assert.deepEqual(await authenticator.authenticate(bearer(token.plain)), { kind: 'bad' })
    assert.equal(await kindOf(authenticator, bearer(sessionToken)), 'bad')
    await identity.users.enable(identity.operator, { userId: user.id, vouchedFor: true })
    assert.equal(await kindOf(authenticator, bearer(token.plain)), 'ok')
  })

  test('storage that does not answer is an error, not a refusal, and is not remembered', async () => {
    const identity = await installed(await open())
    let broken = true
    const db = new Proxy(identity.db, {
      get(target, name) {
        if (name === 'run' && broken) return () => Promise.reject(new Error('storage is away'))
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const authenticator = authenticatorOf({ ...identity, db })
    await assert.rejects(authenticator.authenticate(bearer(ADMIN.admin_token)), /storage is away/)
    broken = false
    assert.equal(await kindOf(authenticator, bearer(ADMIN.admin_token)), 'ok')
    await authenticator.close()
  })

  test('dev takes a local request without credentials for the first administrator, serve does not', async () => {
    const identity = await installed(await open())
    const dev = authenticatorOf(identity, { mode: 'dev' })
    const principal = await principalOf(dev, requestWith({}))
    assert.deepEqual(
      [principal.method, principal.userId, principal.credentialId],
      ['dev', identity.administratorId, null],
    )
    assert.equal(principal.permissions.has('admin'), true)
    assert.equal(await kindOf(authenticatorOf(identity), requestWith({})), 'none')
  })

  test('dev judges credentials when there are any, and trusts nobody from afar', async () => {
    const identity = await installed(await open())
    const dev = authenticatorOf(identity, { mode: 'dev' })
    assert.equal(await kindOf(dev, bearer(UNKNOWN)), 'bad')
    assert.equal(await kindOf(dev, requestWith({ 'x-api-key': ADMIN.api_key })), 'none')
    assert.equal(await kindOf(dev, requestWith({}, 'GET', '192.168.1.4')), 'none')
    assert.equal(await kindOf(dev, requestWith({ 'x-forwarded-for': '1.2.3.4' })), 'none')
    assert.equal(await kindOf(dev, requestWith({ origin: 'http://example.org' }, 'POST')), 'none')
    assert.equal((await principalOf(dev, bearer(ADMIN.admin_token))).method, 'token')
    await dev.close()
  })

  test('dev falls back to the next administrator, a person, when the first is disabled', async () => {
    const identity = await installed(await open())
    const { users, operator, db, administratorId } = identity
    const dev = authenticatorOf(identity, { mode: 'dev' })
    await principalOf(dev, requestWith({}))
    const add = async (name: string, role: string) => {
      const { id } = await resolveRole(db, operator, role)
      return users.create(operator, { email: `${name}@example.org`, roleIds: [id], vouchedFor: true })
    }
    await add('writer', 'standard')
    const robot = await add('robot', 'admin')
    await db.write((tx) =>
      tx.query.updateTable('users').set({ service_account: 1 }).where('id', '=', robot.id).execute(),
    )
    const next = await add('next', 'admin')
    await users.disable(operator, { userId: administratorId })
    assert.equal((await principalOf(dev, requestWith({}))).userId, next.id)
  })
})
