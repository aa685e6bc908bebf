import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ManagedRoleKey, managedRoleHolds } from './managed-roles.ts'
import { findPermission, isPermissionName, PERMISSIONS, permissionId } from './permissions.ts'
import { allows, effectivePermissions, operatorPrincipal } from './principal.ts'

const READ_ONLY = [...['user_access_read', 'user_self_profile_write', 'projects_read', 'notes_read', 'callbacks_read']]
const STANDARD = [
  ...READ_ONLY,
  ...['user_access_invite', 'user_app_keys', 'projects_write', 'notes_write', 'callbacks_write'],
]

test('the managed roles hold what the contract says, each everything of the one below', () => {
  const names = (key: ManagedRoleKey) =>
    PERMISSIONS.filter((permission) => managedRoleHolds(key, permission)).map(({ name }) => name)
  assert.deepEqual(names('read_only').toSorted(), READ_ONLY.toSorted())
  assert.deepEqual(names('standard').toSorted(), STANDARD.toSorted())
  assert.deepEqual(
    names('admin'),
    PERMISSIONS.map(({ name }) => name),
  )
  assert.equal(PERMISSIONS.length, 18)
})

test('exactly the three base read permissions are restricted', () => {
  const restricted = PERMISSIONS.filter((permission) => permission.restricted).map(({ name }) => name)
  assert.deepEqual(restricted, ['user_access_read', 'projects_read', 'notes_read'])
})

test('the id of a permission never changes', () => {
  // A change here breaks every script that names a permission by id.
  assert.equal(permissionId('admin'), 'bd492f50-d7df-5bb0-b93e-c4a4df9a2360')
  assert.equal(findPermission('notes_read')?.id, permissionId('notes_read'))
  assert.equal(new Set(PERMISSIONS.map(({ id }) => id)).size, PERMISSIONS.length)
  for (const { id } of PERMISSIONS)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('every permission says in a sentence what it allows', () => {
  for (const permission of PERMISSIONS) {
    assert.match(permission.description, /^[A-Z].{10,}\.$/)
    assert.ok(Number.isFinite(Date.parse(permission.created)))
  }
})

test('names of the prototype are no permissions', () => {
  for (const name of ['toString', '__proto__', 'constructor', '']) assert.equal(isPermissionName(name), false)
})

test('admin passes every check and an empty set none', () => {
  const operator = operatorPrincipal('00000000-0000-7000-8000-000000000000' as never)
  for (const { name } of PERMISSIONS) {
    assert.equal(allows(operator, name), true)
    assert.equal(allows({ permissions: new Set() }, name), false)
  }
})

test('scopes narrow and never widen', () => {
  assert.deepEqual([...effectivePermissions(['notes_read', 'notes_write'], ['notes_read', 'admin'])], ['notes_read'])
  assert.deepEqual([...effectivePermissions(['notes_read'], null)], ['notes_read'])
  assert.deepEqual([...effectivePermissions(['notes_read'], [])], [])
})

test('a scope of an administrator works even when the role holds nothing but admin', () => {
  const narrowed = effectivePermissions(['admin'], ['notes_write'])
  assert.equal(allows({ permissions: narrowed }, 'notes_write'), true)
  assert.equal(allows({ permissions: narrowed }, 'notes_read'), false)
})
