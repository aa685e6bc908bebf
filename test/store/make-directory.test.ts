import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeDataDirectory, makeDirectory } from '../../src/platform/storage/make-directory.ts'
import { tempDir } from '../support/temp-dir.ts'

test('missing directories are made, those of the server for its user alone', () => {
  const path = join(tempDir(), 'a', 'b')
  makeDataDirectory(path)
  assert.equal(statSync(path).mode & 0o777, 0o700)
  makeDirectory(path)
  makeDirectory(join(path, 'c'))
  assert.ok(existsSync(join(path, 'c')))
})

const skip = !existsSync('/proc/self') && 'this system has no /proc'

test('a system that makes no directory there is heard, instead of asked for ever', { skip }, () => {
  const file = fileURLToPath(new URL('../../src/platform/storage/make-directory.ts', import.meta.url))
  const script = `import { makeDirectory } from ${JSON.stringify(file)}; makeDirectory('/proc/none/data')`
  // In a process of its own, which can be ended.
  const args = ['--input-type=module', '-e', script]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 })
  assert.equal(status, 1)
  assert.match(stderr, /E[A-Z]+: .*, mkdir '\/proc\/none'/)
})
