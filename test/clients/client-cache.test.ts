import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { cachedClient } from '../support/client-cache.ts'
import { tempDir } from '../support/temp-dir.ts'

/** Nothing listens there, and nothing was fetched before. */
function unreachable() {
  return { directory: tempDir(), env: { npm_config_registry: 'http://127.0.0.1:1', npm_config_cache: tempDir() } }
}

test('a client that cannot be fetched is unavailable, says why, and leaves nothing behind', async () => {
  const choice = unreachable()
  const { unavailable } = await cachedClient('left-out', '1.0.0', choice)
  assert.match(String(unavailable), /^left-out 1\.0\.0 could not be installed: .*ECONNREFUSED/)
  assert.deepEqual(readdirSync(choice.directory), [])
})

test('a client that npm refuses for another reason is a failure, not a skip', async () => {
  await assert.rejects(
    cachedClient('no such name', '1.0.0', unreachable()),
    /npm could not install no such name@1\.0\.0/,
  )
})
