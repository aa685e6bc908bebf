import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { PermissionName } from '../../src/platform/auth/permissions.ts'
import type { Principal } from '../../src/platform/auth/principal.ts'
import { MICROS_PER_SECOND } from '../../src/platform/clock/clock.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { ApiKeyService } from '../../src/users/credential/api-key-service.ts'
import type { OwnedSort } from '../../src/users/credential/credential.ts'
import { OwnedKeyService } from '../../src/users/credential/owned-key-service.ts'
import { ServiceAccountService } from '../../src/users/credential/service-account-service.ts'
import { resolveRole } from '../../src/users/index.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { type Identity, installed, session } from '../support/identity.ts'

const DAY = 86_400 * MICROS_PER_SECOND

async function world(db: Database, start?: string) {
  const identity = await installed(db, start === undefined ? undefined : new FakeClock(start))
  return {
    ...identity,
    keys: new OwnedKeyService(identity, 'application_keys'),
    tokens: new OwnedKeyService(identity, 'access_tokens'),
    apiKeys: new ApiKeyService(identity),
    serviceAccounts: new ServiceAccountService({ ...identity, settings: { allowed_email_domains: ['example.org'] } }),
  }
}

function only(identity: Pick<Identity, 'operator'>, ...permissions: PermissionName[]): Principal {
  return { ...identity.operator, kind: 'user', permissions: new Set(permissions) }
}

eachDatabase('keys and tokens', ({ open }) => {
  test('lists are in the same order on every engine, of one owner or of all', async () => {
    const db = await open()
    const { operator, users, credentials, keys, apiKeys, administratorId } = await world(db)
    const ada = await users.create(operator, { email: 'ada@example.org', vouchedFor: true })
    for (const name of ['É', 'b', 'A_', 'a b']) {
      await credentials.createApplicationKey(operator, { userId: ada.id, name, scopes: null })
    }
    const list = async (field: OwnedSort, descending: boolean, filter?: string, number = 0) => {
      const query = { page: { size: 3, number }, sort: { field, descending }, filter }
      const { items, ...counts } = await keys.list(operator, ada.id, query)
      return { names: items.map(({ name }) => name), ...counts }
    }
    assert.deepEqual(await list('name', false), { names: ['a b', 'A_', 'b'], total: 4, filtered: 4 })
    assert.deepEqual((await list('name', false, undefined, 1)).names, ['É'])
    assert.deepEqual(await list('name', true), { names: ['É', 'b', 'A_'], total: 4, filtered: 4 })
    assert.deepEqual(await list('created_at', true), { names: ['a b', 'A_', 'b'], total: 4, filtered: 4 })
    assert.deepEqual(await list('name', false, ' é '), { names: ['É'], total: 4, filtered: 1 })
    for (const name of ['one', 'b', 'A_']) await credentials.createApiKey(operator, { name })
    for (const table of ['application_keys', 'api_keys'] as const) {
      await db.write((tx) => sql`update ${sql.table(table)} set last4 = replace(name, 'É', 'B')`.execute(tx.query))
    }
    assert.deepEqual((await list('last4', false)).names, ['A_', 'É', 'a b'])
    const byLast4 = { page: { size: 9, number: 0 }, sort: { field: 'last4', descending: true } } as const
    const { items } = await apiKeys.list(operator, byLast4)
    assert.deepEqual(
      items.map(({ last4 }) => last4),
      ['one', 'b', 'First administrator', 'A_'],
    )
    const everything = { page: { size: 10, number: 0 }, sort: { field: 'name', descending: false } } as const
    assert.equal((await keys.list(operator, null, everything)).total, 5)
    assert.equal((await keys.list(operator, administratorId, everything)).total, 1)
  })

  test('a key is found by its owner, by whoever asks for anybody, and by nobody else', async () => {
    const { operator, users, credentials, keys, administratorId } = await world(await open())
    const ada = await users.create(operator, { email: 'ada@example.org' })
    const { id } = await credentials.createApplicationKey(operator, { userId: ada.id, name: 'x', scopes: null })
    assert.equal((await keys.get(operator, ada.id, id)).id, id)
    assert.equal((await keys.get(operator, null, id)).userId, ada.id)
    await assert.rejects(keys.get(operator, administratorId, id), { code: 'not_found' })
    await assert.rejects(keys.revoke(operator, administratorId, id), { code: 'not_found' })
    const stranger = { ...operator, organizationId: newId<'Organization'>() }
    for (const owner of [null, ada.id]) await assert.rejects(keys.get(stranger, owner, id), { code: 'not_found' })
    await assert.rejects(keys.revoke(stranger, null, id), { code: 'not_found' })
    await keys.revoke(operator, null, id)
  })

  test('a token ends within a calendar year, leap day or not', async () => {
    const { operator, credentials, clock, administratorId: userId } = await world(await open(), '2027-12-01T00:00:00Z')
    const create = (days: number) =>
      credentials.createToken(operator, { userId, name: 'x', scopes: null, expiresAt: clock.now() + days * DAY })
    await create(366) // with 29 February 2028 in between
    await assert.rejects(create(367), { message: 'expires_at must be at most one year ahead' })
    await assert.rejects(create(0), { message: 'expires_at must lie in the future' })
  })

  test('nobody gains by making or widening a key, and a rename is no gain', async () => {
    const { db, operator, users, credentials, keys } = await world(await open())
    const admin = await resolveRole(db, operator, 'admin')
    const ada = await users.create(operator, { email: 'ada@example.org', roleIds: [admin.id], vouchedFor: true })
    const narrow = only({ operator }, 'user_app_keys', 'notes_read')
    const create = (scopes: string[] | null) =>
      credentials.createApplicationKey(narrow, { userId: ada.id, name: 'x', scopes })
    await assert.rejects(create(null), { message: /^You cannot grant a permission you do not have: / })
    await assert.rejects(create(['admin']), { message: 'You cannot grant a permission you do not have: admin' })
    const key = await create(['notes_read'])
    const wide = await credentials.createApplicationKey(operator, { userId: ada.id, name: 'wide', scopes: null })
    await assert.rejects(keys.update(narrow, ada.id, { id: key.id, scopes: null }), { code: 'permission_denied' })
    assert.equal((await keys.update(narrow, ada.id, { id: wide.id, name: 'still wide' })).scopes, null)
    assert.deepEqual((await keys.update(narrow, ada.id, { id: wide.id, scopes: ['admin'] })).scopes, ['admin'])
    await assert.rejects(keys.update(operator, ada.id, { id: key.id, scopes: ['flying'] }), { message: /flying/ })
    const { name, scopes } = await keys.get(operator, ada.id, key.id)
    assert.deepEqual({ name, scopes }, { name: 'x', scopes: ['notes_read'] }, 'a change of one key is none of another')
  })

  test('a session makes a key or token of its own user within ten minutes of the sign-in, and no later', async () => {
    const identity = await world(await open(), '2027-12-01T00:00:00Z')
    const { operator, credentials, serviceAccounts, clock, administratorId: userId } = identity
    const { id: credentialId } = await session(identity)
    const inSession: Principal = { ...operator, kind: 'user', userId, method: 'cookie', credentialId }
    const robot = await serviceAccounts.create(operator, { email: 'robots@example.org' })
    const key = { userId, name: 'x', scopes: null }
    const making = (by: Principal) => [
      () => credentials.createApplicationKey(by, key),
      () => credentials.createKeyPair(by, key),
      () => credentials.createToken(by, { ...key, expiresAt: clock.now() + DAY }),
    ]
    await (clock as FakeClock).advance(599_000)
    for (const make of making(inSession)) await make()
    await (clock as FakeClock).advance(2_000)
    const refusal = { code: 'permission_denied', message: /^Sign in again/ }
    for (const make of making(inSession)) await assert.rejects(make(), refusal)
    for (const make of making({ ...inSession, method: 'token' })) await make()
    await credentials.createApplicationKey(inSession, { ...key, userId: robot.id })
  })

  test('a session widens a key or token of its own user within ten minutes of the sign-in, and narrows it at any time', async () => {
    const identity = await world(await open(), '2027-12-01T00:00:00Z')
    const { operator, credentials, serviceAccounts, keys, tokens, clock, administratorId: userId } = identity
    const { id: credentialId } = await session(identity)
    const inSession: Principal = { ...operator, kind: 'user', userId, method: 'session', credentialId }
    const robot = await serviceAccounts.create(operator, { email: 'robots@example.org' })
    const wish = { userId, name: 'x', scopes: ['notes_read', 'notes_write'] }
    const key = await credentials.createApplicationKey(operator, wish)
    const token = await credentials.createToken(operator, { ...wish, expiresAt: clock.now() + DAY })
    const robots = await credentials.createApplicationKey(operator, { ...wish, userId: robot.id })
    const change = (by: Principal, scopes: string[] | null) => [
      () => keys.update(by, userId, { id: key.id, scopes }),
      () => keys.update(by, null, { id: key.id, scopes }),
      () => tokens.update(by, userId, { id: token.id, scopes }),
    ]
    await (clock as FakeClock).advance(599_000)
    for (const widen of change(inSession, ['notes_read', 'notes_write', 'projects_write'])) await widen()
    await (clock as FakeClock).advance(2_000)
    for (const narrow of change(inSession, ['notes_read'])) await narrow()
    await keys.update(inSession, userId, { id: key.id, name: 'y' })
    const refusal = { code: 'permission_denied', message: /^Sign in again/ }
    for (const scopes of [null, ['admin'], ['notes_read', 'notes_write']]) {
      for (const widen of change(inSession, scopes)) await assert.rejects(widen(), refusal)
    }
    await keys.update(inSession, null, { id: robots.id, scopes: null })
    for (const widen of change({ ...inSession, method: 'token' }, null)) await widen()
  })

  test('a disabled owner gets no new key', async () => {
    const { operator, users, credentials } = await world(await open())
    const ada = await users.create(operator, { email: 'ada@example.org' })
    await users.disable(operator, { userId: ada.id })
    const input = { userId: ada.id, name: 'x', scopes: null }
    await assert.rejects(credentials.createApplicationKey(operator, input), { code: 'invalid_argument' })
  })

  test('an API key remembers who changed it last', async () => {
    const { operator, credentials, apiKeys, administratorId } = await world(await open())
    const administrator = { ...operator, userId: administratorId }
    const key = await credentials.createApiKey(operator, { name: 'Site' })
    assert.deepEqual([key.createdBy, key.modifiedBy], [null, null])
    const renamed = await apiKeys.rename(administrator, { id: key.id, name: 'Other' })
    assert.deepEqual([renamed.createdBy, renamed.modifiedBy], [null, administratorId])
    assert.ok(renamed.modifiedAt > key.modifiedAt)
    assert.deepEqual(await apiKeys.rename(operator, { id: key.id, name: ' Other ' }), renamed)
    assert.deepEqual(await apiKeys.get(operator, key.id), renamed)
  })

  test('service accounts share an address, are Active at once and counted as such', async () => {
    const { db, operator, serviceAccounts } = await world(await open())
    const one = await serviceAccounts.create(operator, { email: ' Robots@Example.org' })
    const two = await serviceAccounts.create(operator, { email: 'robots@example.org' })
    assert.deepEqual([one.email, one.handle, one.status, one.verified], ['robots@example.org', one.id, 'Active', true])
    assert.notEqual(one.id, two.id)
    const tally = await db.query
      .selectFrom('tallies')
      .select('amount')
      .where('name', 'like', 'users % Active 1')
      .execute()
    assert.equal(
      tally.reduce((sum, { amount }) => sum + amount, 0),
      2,
    )
    await assert.rejects(serviceAccounts.create(operator, { email: 'robots@example.com' }), { message: /domains/ })
    await assert.rejects(serviceAccounts.create(operator, { email: 'r@example.org', roleIds: [newId(), 'x'] }), {
      code: 'invalid_argument',
      message: /^Role .* not found$/,
    })
  })
})
