import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { blocksOf } from '../support/shell-blocks.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { tempDir } from '../support/temp-dir.ts'
import { nodeModules, skipped } from './datadog-client.ts'

describe('the program in docs/users.md', { skip: skipped }, () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ mode: 'serve' })
  })
  after(() => server.stop())

  test('lists the users of this server with the published client', async () => {
    const [block, ...others] = blocksOf('docs/users.md', 'js')
    assert.ok(block !== undefined && others.length === 0)
    const directory = tempDir()
    symlinkSync(nodeModules, join(directory, 'node_modules'))
    const file = join(directory, 'example.mjs')
    writeFileSync(file, block.text.replaceAll('http://localhost:4040', server.url))
    const env = { ...process.env, API_KEY: server.apiKey, APPLICATION_KEY: server.applicationKey }
    const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
    assert.match(stdout, /^[0-9a-f-]{36} \S+@\S+ Active\n$/)
  })
})
