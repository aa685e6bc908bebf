import assert from 'node:assert/strict'
import { PERMISSIONS } from '../../src/platform/auth/permissions.ts'
import { type RuledOperation, testAccess } from '../support/test-access.ts'

const read = (passed: number) => ({ permission: 'callbacks_read', passed })
const change = (passed: number, body?: unknown) => ({ permission: 'org_management', passed, body })

const OPERATIONS: Record<string, RuledOperation> = {
  'GET /namespaces': read(200),
  'POST /namespaces': change(400, {}),
  'GET /namespaces/{namespace}': read(404),
  'PATCH /namespaces/{namespace}': change(404, {}),
  'DELETE /namespaces/{namespace}': change(404),
}

const ALL = PERMISSIONS.map(({ name }) => name).filter((name) => name !== 'admin')

testAccess('namespaces', {
  operations: OPERATIONS,
  isListed: (path) => /^\/namespaces(\/\{namespace\})?$/.test(path),
  async call(anybody, { title, method, path, operation, status, headers }) {
    const options = { headers, body: operation.body }
    for (const prefix of ['', '/api/v1']) {
      const { body } = await anybody.call(method, prefix + path.replace('{namespace}', 'nowhere'), status, options)
      if (status === 401) assert.equal(body.code, 16, title)
      if (status === 403) assert.deepEqual([body.code, body.details], [7, []], title)
    }
  },
  useless: 401,
  roles: {
    admin: ['callbacks_read', 'org_management'],
    standard: ['callbacks_read'],
    read_only: ['callbacks_read'],
  },
  scopes: [
    ['callbacks_read'],
    ['callbacks_write'],
    ['org_management'],
    ALL,
    ALL.filter((name) => name !== 'org_management' && !name.startsWith('callbacks_')),
  ],
})
