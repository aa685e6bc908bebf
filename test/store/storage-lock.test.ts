import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lockDataDirectory } from '../../src/platform/storage/data-lock.ts'
import { tempDir } from '../support/temp-dir.ts'
import { startChild } from './start-child.ts'

test('a data directory has one holder at a time, and the next is told who it is', () => {
  const dataDir = join(tempDir(), 'new', 'data')
  const lock = lockDataDirectory(dataDir)
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  const reason = new RegExp(`\\(process ${process.pid}\\) already uses the data directory .*stop it, or choose another`)
  assert.throws(() => lockDataDirectory(dataDir), reason)
  lock.release()
  assert.equal(existsSync(join(dataDir, 'commonplace.pid')), false)
  lockDataDirectory(dataDir).release()
})

test('a lock is held and let go also where the file that names its holder cannot be written or removed', () => {
  const dataDir = tempDir()
  mkdirSync(join(dataDir, 'commonplace.pid'))
  const lock = lockDataDirectory(dataDir)
  assert.throws(() => lockDataDirectory(dataDir), /Another Commonplace server already uses/)
  lock.release()
  lockDataDirectory(dataDir).release()
})

test('the lock of a process that was killed is free at once', async () => {
  const dataDir = tempDir()
  const child = startChild({ place: { dataDir, databaseUrl: null }, do: 'lock directory' })
  assert.equal(await child.nextLine(), 'ready')
  assert.throws(() => lockDataDirectory(dataDir), new RegExp(`process ${child.process.pid}`))
  child.process.kill('SIGKILL')
  await child.ended
  lockDataDirectory(dataDir).release()
})

test('a directory that cannot be written is named, with what to do', (t) => {
  const file = join(tempDir(), 'file')
  writeFileSync(file, '')
  assert.throws(
    () => lockDataDirectory(file),
    /data directory .*file cannot be written .* choose another with COMMONPLACE_DATA_DIR/,
  )
  if (process.getuid?.() === 0) return t.diagnostic('root may write everywhere')
  const closed = tempDir()
  chmodSync(closed, 0o500)
  assert.throws(() => lockDataDirectory(closed), /cannot be written .*correct its owner, permissions/)
})
