/** What tests of roles ask for over and over. */
import { permissionId } from '../../src/platform/auth/permissions.ts'
import type { TestClient } from '../support/test-client.ts'

export const ADMIN_ROLE = 'Platform Admin Role'

export function references(names: readonly string[]) {
  return { permissions: { data: names.map((name) => ({ id: permissionId(name), type: 'permissions' })) } }
}

export function body(attributes: object, relationships?: object, more: object = {}) {
  return { body: { data: { type: 'roles', ...more, attributes, relationships } } }
}

export async function createRole(admin: TestClient, name: string, permissions: readonly string[] = []) {
  return (await admin.post('/api/v2/roles', 200, body({ name }, references(permissions)))).body.data
}

export async function managedRole(admin: TestClient, name: string) {
  const { body } = await admin.get(`/api/v2/roles?filter=${encodeURIComponent(name)}`, 200)
  return body.data.find((role: { attributes: { managed: boolean } }) => role.attributes.managed)
}
