import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../test/support/temp-dir.ts'
import { SettingsError } from '../platform/config/settings-error.ts'
import { loadSettings } from '../settings.ts'
import { asYaml, configCommand } from './config.ts'

test('what config prints is a settings file that gives the same settings', async () => {
  const cwd = tempDir()
  const env = {
    COMMONPLACE_INSTANCE__LEGACY_DESCRIPTION: 'two\nlines: # "quoted"',
    COMMONPLACE_INSTANCE__DESCRIPTION: 'two\nplain lines',
    COMMONPLACE_INSTANCE__REGISTRATIONS__CLOSED_MESSAGE: '\n- a list\n\n\tand more\r\n',
    COMMONPLACE_CALLBACKS__NAMESPACES: '{"orders":{"retention":"36h","search_attributes":{"A":"Int"}}}',
    COMMONPLACE_SERVER__REQUEST_TIMEOUT: '1500ms',
  }
  const loaded = await loadSettings({ mode: 'serve', env, cwd, flags: { 'server.port': '0' } })
  const yaml = asYaml(loaded)
  assert.match(yaml, /^# mode: serve\n# settings file: none\n/)
  assert.match(yaml, /^ {2}port: 0 # flag$/m)
  assert.match(yaml, /^ {2}request_timeout: 1500ms # environment$/m)
  assert.match(yaml, /^ {2}grpc_port: 4041 # default$/m)
  writeFileSync(join(cwd, 'commonplace.yaml'), yaml)
  const again = await loadSettings({ mode: 'serve', env: {}, cwd })
  assert.deepEqual(again.settings, loaded.settings)
})

test('config shows that a secret is set, not what it is', async () => {
  const env = {
    COMMONPLACE_ADMIN_TOKEN: 'x'.repeat(40),
    COMMONPLACE_DATABASE_URL: 'postgres://ada:hunter2@localhost/kb',
    COMMONPLACE_KNOWLEDGE__EMBEDDING_URL: 'https://api.example.org/v1?version=3&key=hunter2',
  }
  const yaml = asYaml(await loadSettings({ mode: 'serve', env, cwd: tempDir() }))
  assert.match(yaml, /^ {2}admin_token: "\*\*\*" # environment$/m)
  assert.match(yaml, /^ {2}database_url: postgres:\/\/ada:\*\*\*@localhost\/kb # environment$/m)
  assert.match(yaml, /^ {2}embedding_url: https:\/\/api\.example\.org\/v1\?version=3&key=\*\*\* # environment$/m)
  assert.doesNotMatch(yaml, /hunter2|xxxx/)
})

test('config refuses what the server would refuse', async () => {
  const missing = configCommand().parseAsync(['--config', '/nowhere/commonplace.yaml'], { from: 'user' })
  await assert.rejects(missing, (error) => error instanceof SettingsError && /does not exist/.test(error.message))
  const address = configCommand().parseAsync(['--mode', 'dev', '--host', '0.0.0.0'], { from: 'user' })
  await assert.rejects(address, (error) => error instanceof SettingsError && /loopback/.test(error.message))
})
