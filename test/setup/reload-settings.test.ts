import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { client } from '../support/test-client.ts'

const shownBy = async (server: TestServer) => (await client(server, 'none').get('/api/v2/instance', 200)).body

test('SIGHUP reads the settings file again; what is wrong in it changes nothing', async () => {
  const file = join(tempDir(), 'settings.yaml')
  const write = (text: string) => writeFileSync(file, text)
  write('instance:\n  title: Before\n  description: Of the file\n')
  await using server = await startServer({
    args: ['--config', file],
    env: { COMMONPLACE_INSTANCE__DESCRIPTION: 'Of the environment' },
  })
  assert.equal((await shownBy(server)).title, 'Before')

  write('instance:\n  title: After\n  description: Still of the file\nserver:\n  max_connections: 77\n')
  process.kill(server.pid, 'SIGHUP')
  await server.says(/the settings were read again/)
  assert.match(server.output(), /hold after a restart sections=\["server"\]/)
  const after = await shownBy(server)
  assert.deepEqual([after.title, after.description], ['After', 'Of the environment'])
  const sources = (await client(server).get('/api/v1/admin/instance/sources', 200)).body
  assert.deepEqual([sources.title, sources.description], ['file', 'environment'])

  write('instance:\n  title: 7\n  no_such_key: 1\n')
  process.kill(server.pid, 'SIGHUP')
  await server.says(/could not be read again: the old ones stay in effect/)
  assert.match(server.output(), /instance\.no_such_key/)
  assert.equal((await shownBy(server)).title, 'After')
})

test('what was stored through the API stays above a file that is read again', async () => {
  const file = join(tempDir(), 'settings.yaml')
  writeFileSync(file, 'instance:\n  title: Before\n')
  await using server = await startServer({ args: ['--config', file] })
  await client(server).patch('/api/v1/admin/instance', 200, { body: { title: 'Stored' } })
  writeFileSync(file, 'instance:\n  title: After\n  description: New\n')
  process.kill(server.pid, 'SIGHUP')
  await server.says(/the settings were read again/)
  const { title, description } = await shownBy(server)
  assert.deepEqual([title, description], ['Stored', 'New'])
  await client(server).patch('/api/v1/admin/instance', 200, { body: { title: null } })
  assert.equal((await shownBy(server)).title, 'After')
})
