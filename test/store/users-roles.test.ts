import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PermissionName, permissionId } from '../../src/platform/auth/permissions.ts'
import type { Principal, UserId } from '../../src/platform/auth/principal.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { JobEngine } from '../../src/platform/jobs/job-engine.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { readTallies } from '../../src/platform/tally/store.ts'
import { resolveRole } from '../../src/users/index.ts'
import { registerRoleRemoval } from '../../src/users/role/role-removal.ts'
import { RoleService } from '../../src/users/role/role-service.ts'
import { listRoles, type RoleSort } from '../../src/users/role/store-role-list.ts'
import { permissionsOfRole, permissionsOfUser, rolesOfUsers, roleTally } from '../../src/users/role/store-roles.ts'
import { UserLister } from '../../src/users/user/list-users.ts'
import { eachDatabase } from '../support/each-database.ts'
import { authenticatorOf, bearer, type Identity, installed, principalOf } from '../support/identity.ts'
import { silentLogger } from '../support/silent-logger.ts'

const BASE: PermissionName[] = ['notes_read', 'projects_read', 'user_access_read']

function ids(...names: PermissionName[]): string[] {
  return names.map(permissionId)
}

async function audited(db: Database, prefix: string): Promise<{ action: string; changes: Record<string, unknown> }[]> {
  const rows = await db.query
    .selectFrom('audit_events')
    .select(['action', 'changes'])
    .where('action', 'like', `${prefix}%`)
    .orderBy('position')
    .execute()
  return rows.map(({ action, changes }) => ({ action, changes: JSON.parse(changes) }))
}

function only(identity: Identity, ...permissions: PermissionName[]): Principal {
  return { ...identity.operator, kind: 'user', permissions: new Set(permissions) }
}

async function world(db: Database) {
  const identity = await installed(db)
  return { ...identity, roles: new RoleService(identity) }
}

eachDatabase('roles', ({ open }) => {
  test('a role holds what was asked for and the base permissions, and every step is audited', async () => {
    const { db, operator, roles } = await world(await open())
    const role = await roles.create(operator, { name: 'Writers', permissionIds: ids('notes_write', 'notes_read') })
    assert.deepEqual((await permissionsOfRole(db, role.id)).sort(), [...BASE, 'notes_write'].sort())
    await roles.update(operator, { roleId: role.id, name: 'Callers', permissionIds: ids('callbacks_write') })
    const clone = await roles.clone(operator, { roleId: role.id, name: 'More callers' })
    await roles.delete(operator, { roleId: role.id })
    assert.deepEqual(await audited(db, 'role.'), [
      { action: 'role.created', changes: { name: { new: 'Writers' }, permissions: { new: ['notes_write'] } } },
      { action: 'role.updated', changes: { name: { old: 'Writers', new: 'Callers' } } },
      { action: 'role.permission_granted', changes: { permissions: { new: ['callbacks_write'] } } },
      { action: 'role.permission_revoked', changes: { permissions: { old: ['notes_write'] } } },
      { action: 'role.cloned', changes: { name: { new: 'More callers' }, original: { new: role.id } } },
      { action: 'role.deleted', changes: { name: { old: 'Callers' } } },
    ])
    assert.deepEqual((await permissionsOfRole(db, clone.id)).sort(), [...BASE, 'callbacks_write'].sort())
  })

  test('an update that fails changes nothing, and one that changes nothing writes nothing', async () => {
    const { db, operator, roles, ...identity } = await world(await open())
    const role = await roles.create(operator, { name: 'Steady', permissionIds: ids('notes_write') })
    const update = { roleId: role.id, name: 'Moved' }
    await assert.rejects(roles.update(operator, { ...update, permissionIds: [newId()] }), { code: 'invalid_argument' })
    await assert.rejects(roles.update(operator, { ...update, ifMatch: '"old"' }), { code: 'precondition_failed' })
    const manager = only({ db, operator, ...identity }, 'user_access_manage')
    await assert.rejects(roles.update(manager, { ...update, permissionIds: ids('admin') }), {
      code: 'permission_denied',
      message: 'You cannot grant a permission you do not have: admin',
    })
    const same = await roles.update(operator, { roleId: role.id, name: 'Steady', permissionIds: ids('notes_write') })
    assert.deepEqual(same, role)
    assert.equal((await resolveRole(db, operator, role.id)).name, 'Steady')
    assert.equal((await audited(db, 'role.')).length, 1)
  })

  test('a permission that only a newer version knows survives an update by this one', async () => {
    const { db, operator, roles } = await world(await open())
    const role = await roles.create(operator, { name: 'Ahead' })
    const id = newId<'Permission'>()
    await db.write(async (tx) => {
      await tx.query.insertInto('permissions').values({ id, name: 'time_travel', created_at: 1 }).execute()
      await tx.query.insertInto('role_permissions').values({ role_id: role.id, permission_id: id }).execute()
    })
    await roles.update(operator, { roleId: role.id, permissionIds: ids('notes_write') })
    const names: string[] = await permissionsOfRole(db, role.id)
    assert.ok(names.includes('time_travel') && names.includes('notes_write'))
  })

  test('a deleted role is gone from its members and from the counts', async () => {
    const { db, operator, roles, users } = await world(await open())
    const role = await roles.create(operator, { name: 'Passing', permissionIds: ids('audit_logs_read') })
    const user = await users.create(operator, { email: 'ada@example.org', roleIds: [role.id] })
    assert.ok((await permissionsOfUser(db, user.id)).includes('audit_logs_read'))
    assert.equal((await readTallies(db, [roleTally(role.id)])).get(roleTally(role.id)), 1)
    await roles.delete(operator, { roleId: role.id })
    assert.deepEqual(await permissionsOfUser(db, user.id), [])
    const tallies = await db.query.selectFrom('tallies').selectAll().where('name', '=', roleTally(role.id)).execute()
    assert.deepEqual(tallies, [])
    await assert.rejects(roles.delete(operator, { roleId: role.id }), { code: 'not_found' })
  })

  test('a role that many have vanishes at once, and is then taken from them in steps', async () => {
    const { db, clock, operator, users, changes, organizationId } = await world(await open())
    const roles = new RoleService({ db, clock, changes, removalStep: 2 })
    const role = await roles.create(operator, { name: 'Passing', permissionIds: ids('audit_logs_read') })
    const made = []
    for (let n = 0; n < 5; n++) {
      made.push(await users.create(operator, { email: `u${n}@example.org`, roleIds: [role.id] }))
    }
    const [first] = made.map(({ id }) => id) as [UserId]
    await roles.delete(operator, { roleId: role.id })

    const memberships = () =>
      db.query.selectFrom('user_roles').select('user_id').where('role_id', '=', role.id).execute()
    assert.equal((await memberships()).length, 5)
    assert.deepEqual(await permissionsOfUser(db, first), [])
    assert.deepEqual((await rolesOfUsers(db, [first])).get(first), [])
    const sort = { field: 'name', descending: false } as const
    const page = { size: 100, number: 0 }
    const listed = await listRoles(db, organizationId, { page, sort, filter: 'passing' })
    assert.deepEqual([listed.total, listed.filtered], [3, 0])
    const order = { sort: 'name', descending: false } as const
    for (const filter of [{}, { filter: 'example' }, { statuses: ['Pending' as const] }]) {
      const lister = new UserLister({ db, clock })
      const query = { page, order, roleIds: [role.id], ...filter }
      assert.equal((await db.read((snapshot) => lister.list(snapshot, organizationId, query))).filtered, 0)
    }
    await assert.rejects(users.addRole(operator, { userId: first, roleId: role.id }), { code: 'not_found' })
    await assert.rejects(roles.delete(operator, { roleId: role.id }), { code: 'not_found' })
    const twin = await roles.clone(operator, {
      roleId: (await resolveRole(db, operator, 'standard')).id,
      name: 'Passing',
    })
    assert.equal(twin.name, 'Passing')

    const done = Promise.withResolvers<void>()
    const onOutcome = () => done.resolve()
    const jobs = new JobEngine({ db, clock: new SystemClock(), log: silentLogger(), onOutcome })
    registerRoleRemoval({ db, jobs }, 2)
    jobs.start()
    await done.promise
    await jobs.stop()
    assert.deepEqual(await memberships(), [])
    assert.deepEqual(await db.query.selectFrom('roles').select('id').where('id', '=', role.id).execute(), [])
    assert.deepEqual(await db.query.selectFrom('jobs').select('id').execute(), [])
  })

  test('of clones with one name that are made together, one is made', async () => {
    const { db, operator, roles } = await world(await open())
    const original = await resolveRole(db, operator, 'standard')
    const clones = Array.from({ length: 4 }, () => roles.clone(operator, { roleId: original.id, name: 'Copy' }))
    const results = await Promise.allSettled(clones)
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const result of results) {
      if (result.status === 'rejected') assert.equal(result.reason.message, 'A role named "Copy" already exists')
    }
  })

  test('a user who gets a role that is being deleted does not end up with half of it', async () => {
    const { db, operator, roles, users } = await world(await open())
    const user = await users.create(operator, { email: 'ada@example.org' })
    for (let round = 0; round < 5; round++) {
      const role = await roles.create(operator, { name: 'Passing' })
      const [, added] = await Promise.allSettled([
        roles.delete(operator, { roleId: role.id }),
        users.addRole(operator, { userId: user.id, roleId: role.id }),
      ])
      if (added.status === 'rejected') assert.equal(added.reason.message, `Role ${role.id} not found`)
      assert.deepEqual((await readTallies(db, [roleTally(role.id)])).get(roleTally(role.id)), 0)
    }
    assert.deepEqual(await permissionsOfUser(db, user.id), [])
  })

  test('two administrators who take the role from each other leave one', async () => {
    const { db, operator, users, administratorId } = await world(await open())
    const { id: roleId } = await resolveRole(db, operator, 'admin')
    const second = await users.create(operator, { email: 'second@example.org', roleIds: [roleId], vouchedFor: true })
    const results = await Promise.allSettled(
      [administratorId, second.id].map((userId) => users.removeRole(operator, { userId, roleId })),
    )
    const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    assert.deepEqual(
      refused.map(({ reason }) => reason.message),
      ['The last administrator cannot be removed'],
    )
  })

  test('what a role loses, a member of it can no longer do', async () => {
    const { db, operator, roles, users, credentials, clock, changes } = await world(await open())
    const role = await roles.create(operator, { name: 'Keys', permissionIds: ids('api_keys_read') })
    const user = await users.create(operator, { email: 'a@example.org', roleIds: [role.id], vouchedFor: true })
    const expiresAt = clock.now() + 3_600_000_000
    const { plain } = await credentials.createToken(operator, { userId: user.id, name: 'x', scopes: null, expiresAt })
    const authenticator = authenticatorOf({ db, clock, changes })
    assert.ok((await principalOf(authenticator, bearer(plain))).permissions.has('api_keys_read'))
    await roles.update(operator, { roleId: role.id, permissionIds: [] })
    assert.equal((await principalOf(authenticator, bearer(plain))).permissions.has('api_keys_read'), false)
    await authenticator.close()
  })

  test('a role is found by its name in whatever Unicode form either was typed', async () => {
    const { db, operator, organizationId, roles } = await world(await open())
    for (const form of ['NFC', 'NFD']) await roles.create(operator, { name: `Équipe ${form}`.normalize(form) })
    for (const form of ['NFC', 'NFD']) {
      const query = { page: { size: 10, number: 0 }, sort: { field: 'name', descending: false } } as const
      const { roles: found } = await listRoles(db, organizationId, { ...query, filter: 'éQUIPE'.normalize(form) })
      assert.deepEqual(found.map(({ name }) => name.slice(-3)).sort(), ['NFC', 'NFD'], form)
    }
  })

  test('lists are in the same order on every engine, and the reverse is exact', async () => {
    const { db, operator, organizationId, roles, users } = await world(await open())
    const names = ['b', 'A_', 'a b', 'É', 'e', 'z', 'Z', '\u{10000}', '\uffee', '_']
    for (const name of names) await roles.create(operator, { name })
    const popular = await resolveRole(db, operator, 'z')
    await users.create(operator, { email: 'ada@example.org', roleIds: [popular.id] })
    const list = async (field: RoleSort, descending = false, filter?: string) => {
      const query = { page: { size: 100, number: 0 }, sort: { field, descending }, filter }
      return (await listRoles(db, organizationId, query)).roles.map(({ name }) => name)
    }
    const byName = await list('name')
    assert.deepEqual(
      byName.filter((name) => names.includes(name)),
      ['_', 'a b', 'A_', 'b', 'e', 'z', 'Z', 'É', '\uffee', '\u{10000}'],
    )
    for (const field of ['name', 'modified_at', 'user_count'] as const) {
      assert.deepEqual(await list(field, true), (await list(field)).reverse())
    }
    assert.deepEqual(new Set((await list('user_count', true)).slice(0, 2)), new Set(['Platform Admin Role', 'z']))
    assert.deepEqual(await list('name', false, 'é'), ['É'])
    assert.deepEqual(await list('name', false, 'a\0'), [])
    assert.deepEqual(await list('name', false, '\ud800'), [])
  })
})
