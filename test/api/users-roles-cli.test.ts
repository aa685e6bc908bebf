import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { PROGRAM, YOUNG_MEMORY } from '../support/program.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'

let server: TestServer
before(async () => {
  server = await startServer({ mode: 'serve' })
})
after(() => server.stop())

async function commonplace(...args: string[]): Promise<string> {
  const env = { ...process.env, COMMONPLACE_DATA_DIR: server.dataDir }
  const { stdout } = await promisify(execFile)(process.execPath, [...YOUNG_MEMORY, PROGRAM, ...args], {
    env,
    cwd: server.dataDir,
  })
  return stdout
}

test('an operator makes a service account with a key pair beside the running server, and sees who has which role', async () => {
  const create = ['user', 'create', 'robots@example.org', '--service-account', '--role', 'read_only', '--json']
  const account = JSON.parse(await commonplace(...create))
  assert.deepEqual([account.status, account.service_account, account.verified], ['Active', true, true])
  const pair = JSON.parse(await commonplace('token', 'create', '--user', account.id, '--kind', 'key-pair', '--json'))
  const robot = client(server, { apiKey: pair.api_key, applicationKey: pair.application_key })
  await robot.get('/api/v2/roles', 200)
  await robot.post('/api/v2/roles', 403)
  const roles: { name: string; user_count: number; permissions: string[] }[] = JSON.parse(
    await commonplace('user', 'roles', '--json'),
  )
  assert.deepEqual(
    roles.map(({ name, user_count }) => [name, user_count]),
    [
      ['Platform Admin Role', 1],
      ['Platform Read Only Role', 1],
      ['Platform Standard Role', 0],
    ],
  )
  assert.ok(roles[2]?.permissions.includes('notes_write'))
})
