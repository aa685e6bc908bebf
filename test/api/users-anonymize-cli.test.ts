import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { UserId } from '../../src/platform/auth/principal.ts'
import { runCommand } from '../cli/run-command.ts'
import { openCallers } from '../support/callers.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

let server: TestServer
let admin: TestClient
before(async () => {
  server = await startServer({ mode: 'serve' })
  admin = client(server)
})
after(() => server.stop())

async function create(email: string): Promise<string> {
  const body = { data: { type: 'users', attributes: { email, name: 'Ada' } } }
  return (await admin.post('/api/v2/users', 201, { body })).body.data.id
}

async function emailOf(id: string): Promise<string> {
  return (await admin.get(`/api/v2/users/${id}`, 200)).body.data.attributes.email
}

function anonymize(...args: string[]) {
  return runCommand(['user', 'anonymize', ...args], { COMMONPLACE_DATA_DIR: server.dataDir })
}

describe('commonplace user anonymize', () => {
  test('erases a user beside the running server, in the name of the command line', async () => {
    const id = await create('ada@example.org')
    const { status, stdout } = await anonymize('ada@example.org', '--yes', '--json')
    assert.deepEqual([status, JSON.parse(stdout)], [0, { id, anonymized: true }])
    assert.equal(await emailOf(id), `anonymized-${id}@anonymized.invalid`)
    const query = `filter[action]=user.anonymized&filter[target]=${id}`
    const { body } = await admin.get(`/api/v2/audit/events?${query}`, 200)
    const [event] = body.data
    assert.deepEqual([event.attributes.actor.auth_method, event.attributes.actor.user_id], ['cli', null])
  })

  test('erases what every part of the server keeps, such as the public contact', async () => {
    const email = 'dora@example.org'
    const id = await create(email)
    await admin.patch('/api/v1/admin/instance', 200, { body: { contact: { user: 'dora', email } } })
    assert.equal((await anonymize(email, '--yes')).status, 0)
    await using callers = await openCallers(server)
    const { query } = callers.db
    const settings = await query.selectFrom('instance_settings').selectAll().execute()
    const names = await query
      .selectFrom('account_names')
      .selectAll()
      .where('user_id', '=', id as UserId)
      .execute()
    const events = await query.selectFrom('audit_events').select('changes').execute()
    assert.doesNotMatch(JSON.stringify([settings, names, events]), /dora/)
  })

  test('answers with the id alone: the address is not shown again', async () => {
    const id = await create('bob@example.org')
    const { status, stdout, stderr } = await anonymize(id, '--yes')
    assert.deepEqual([status, stdout, stderr], [0, `anonymized ${id}\n`, ''])
  })

  test('changes nothing where nobody can be asked and --yes is missing', async () => {
    const id = await create('cleo@example.org')
    const { status, stderr } = await anonymize('cleo@example.org')
    assert.deepEqual([status, /add --yes/.test(stderr)], [2, true])
    assert.equal(await emailOf(id), 'cleo@example.org')
  })

  test('refuses an unknown user and the last administrator', async () => {
    const unknown = await anonymize('nobody@example.org', '--yes')
    assert.deepEqual([unknown.status, unknown.stdout], [1, ''])
    const last = await anonymize('admin@localhost.localdomain', '--yes')
    assert.deepEqual([last.status, /The last administrator cannot be anonymized/.test(last.stderr)], [1, true])
  })
})
