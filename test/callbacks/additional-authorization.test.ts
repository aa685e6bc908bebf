import assert from 'node:assert/strict'
import { PERMISSIONS } from '../../src/platform/auth/permissions.ts'
import { type RuledOperation, testAccess } from '../support/test-access.ts'

const READ = { permission: 'callbacks_read', passed: 404 }
const write = (body: unknown) => ({ permission: 'callbacks_write', passed: 404, body })

const CALLBACK = { nexus: { url: 'https://hooks.example.org/' } }

/** Every operation that only this server has; one that is missing here fails the first test. */
const OPERATIONS: Readonly<Record<string, RuledOperation>> = {
  'GET /callbacks/{callback_id}/attempts': READ,
  'POST /callbacks/{callback_id}/retry': write({}),
  'POST /callbacks/{callback_id}/replay': write({}),
  'POST /callback-replays': write({ query: '' }),
  'GET /callback-replays/{job_id}': READ,
  'GET /destinations': READ,
  'PATCH /destinations/{destination}': write({ paused: true }),
  'POST /destinations/{destination}/reset': write({}),
  'POST /callback-tests': write({ callback: CALLBACK }),
}

const INSIDE = '/namespaces/{namespace}'
/** Those that other servers offer, too. */
const KNOWN_ELSEWHERE = /^\/(callbacks|callbacks\/\{callback_id\}(\/(outcome|terminate))?|callback-count)$/

const BOTH = ['callbacks_read', 'callbacks_write']
const OTHERS = PERMISSIONS.map(({ name }) => name).filter((name) => !/^(admin|callbacks_.*)$/.test(name))

testAccess('callbacks that only this server has', {
  operations: Object.fromEntries(
    Object.entries(OPERATIONS).map(([title, operation]) => [title.replace(' ', ` ${INSIDE}`), operation]),
  ),
  isListed: (path) => path.startsWith(`${INSIDE}/`) && !KNOWN_ELSEWHERE.test(path.replace(INSIDE, '')),
  async call(anybody, { title, method, path, operation, status, headers }) {
    const filled = path
      .replace('{namespace}', 'nowhere')
      .replace('{job_id}', '018f0000-0000-7000-8000-000000000000')
      .replace('{destination}', encodeURIComponent('https://hooks.example.org'))
      .replace('{callback_id}', 'c')
    const code = { 401: 16, 403: 7, 404: 5 }[status]
    for (const prefix of ['', '/api/v1']) {
      const { body } = await anybody.call(method, prefix + filled, status, { headers, body: operation.body })
      assert.equal(body.code, code, title)
      if (status === 403) assert.equal(body.message, `Missing permission: ${operation.permission}`)
    }
  },
  useless: 401,
  roles: { admin: BOTH, standard: BOTH, read_only: ['callbacks_read'] },
  scopes: [['callbacks_read'], ['callbacks_write'], BOTH, OTHERS],
})
