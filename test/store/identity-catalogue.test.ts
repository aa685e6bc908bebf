import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CataloguePermission, PERMISSIONS, permissionId } from '../../src/platform/auth/permissions.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Reader } from '../../src/platform/storage/database.ts'
import { syncCatalogue } from '../../src/users/role/catalogue-sync.ts'
import { insertRole, permissionsOfRole } from '../../src/users/role/store-roles.ts'
import type { Role } from '../../src/users/user/user.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type Identity, installed } from '../support/identity.ts'

function future(name: string, lowestRole: CataloguePermission['lowestRole']): CataloguePermission {
  return {
    ...(PERMISSIONS[0] as CataloguePermission),
    name: name as never,
    id: permissionId(name),
    lowestRole,
    created: '2031-01-01',
  }
}

const CATALOGUE = [
  ...PERMISSIONS,
  future('future_read', 'read_only'),
  future('future_write', 'standard'),
  future('future_admin', 'admin'),
]

async function customRole({ db, organizationId, clock }: Identity, receivesPermissionsFrom: string[]): Promise<Role> {
  const at = clock.now()
  const role = {
    id: newId<'Role'>(),
    organizationId,
    name: 'Custom',
    managed: null,
    receivesPermissionsFrom,
    createdAt: at,
    modifiedAt: at,
  }
  await db.write((tx) => insertRole(tx, role))
  return role
}

async function modifiedAt(reader: Reader, role: Role): Promise<number> {
  const row = await reader.query
    .selectFrom('roles')
    .select('modified_at')
    .where('id', '=', role.id)
    .executeTakeFirstOrThrow()
  return row.modified_at
}

eachDatabase('the permission catalogue', ({ open, openAgain }) => {
  test('a new permission reaches the managed roles that hold it and the custom roles that receive from them', async () => {
    const identity = await installed(await open())
    const { db } = identity
    const roles = {
      none: await customRole(identity, []),
      readOnly: await customRole(identity, ['Platform Read Only Role']),
      both: await customRole(identity, ['Platform Read Only Role', 'Platform Standard Role']),
    }
    assert.deepEqual(await syncCatalogue({ ...identity, catalogue: CATALOGUE }), [
      'future_read',
      'future_write',
      'future_admin',
    ])
    assert.deepEqual(await permissionsOfRole(db, roles.none.id), [])
    assert.deepEqual(await permissionsOfRole(db, roles.readOnly.id), ['future_read'])
    assert.deepEqual(await permissionsOfRole(db, roles.both.id), ['future_read', 'future_write'])
    const managed = await db.query
      .selectFrom('roles')
      .select(['id', 'managed'])
      .where('managed', 'is not', null)
      .execute()
    const sizes = { admin: PERMISSIONS.length + 3, standard: 12, read_only: 6 }
    for (const { id, managed: key } of managed)
      assert.equal((await permissionsOfRole(db, id)).length, sizes[key as 'admin'])
    assert.equal(await modifiedAt(db, roles.none), roles.none.modifiedAt)
    assert.ok((await modifiedAt(db, roles.readOnly)) > roles.readOnly.modifiedAt)
    const events = await db.query
      .selectFrom('audit_events')
      .selectAll()
      .where('action', '=', 'role.permissions_inherited')
      .execute()
    assert.deepEqual(events.map((event) => event.target_id).toSorted(), [roles.readOnly.id, roles.both.id].toSorted())
    assert.deepEqual([events[0]?.actor_kind, events[0]?.actor_id], ['system', null])
  })

  test('a permission that was taken away by hand does not come back with the next start', async () => {
    const identity = await installed(await open())
    const role = await customRole(identity, ['Platform Admin Role'])
    await syncCatalogue({ ...identity, catalogue: CATALOGUE })
    await identity.db.write((tx) =>
      tx.query
        .deleteFrom('role_permissions')
        .where('role_id', '=', role.id)
        .where('permission_id', '=', permissionId('future_read'))
        .execute(),
    )
    assert.deepEqual(await syncCatalogue({ ...identity, catalogue: CATALOGUE }), [])
    assert.deepEqual(await permissionsOfRole(identity.db, role.id), ['future_admin', 'future_write'])
  })

  test('an older version beside a newer one takes nothing away', async () => {
    const identity = await installed(await open())
    await syncCatalogue({ ...identity, catalogue: CATALOGUE })
    assert.deepEqual(await syncCatalogue(identity), [])
    const { length } = await identity.db.query.selectFrom('permissions').select('id').execute()
    assert.equal(length, CATALOGUE.length)
  })

  test('processes that start together introduce each permission once', async () => {
    const db = await open()
    const identity = await installed(db)
    const role = await customRole(identity, ['Platform Standard Role'])
    const others = await Promise.all([1, 2, 3].map(async () => installed(await openAgain(db))))
    const introduced = await Promise.all(
      [identity, ...others].map((one) => syncCatalogue({ ...one, catalogue: CATALOGUE })),
    )
    assert.equal(introduced.flat().length, 3)
    assert.deepEqual(await permissionsOfRole(db, role.id), ['future_read', 'future_write'])
    const events = await db.query
      .selectFrom('audit_events')
      .select('id')
      .where('action', '=', 'role.permissions_inherited')
      .execute()
    assert.equal(events.length, 1)
  })
})
