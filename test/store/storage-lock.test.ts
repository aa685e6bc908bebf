import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { lockDataDirectory } from '../../src/platform/storage/data-lock.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { silentLogger } from '../support/silent-logger.ts'
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

test('a lock that could only be read, and would keep nobody out, is refused', async () => {
  const dataDir = tempDir()
  chmodSync(dataDir, 0o777)
  writeFileSync(join(dataDir, 'commonplace.lock'), '', { mode: 0o444 })
  // Root may write everywhere, so somebody else has to try.
  const as = process.getuid?.() === 0 ? { as: 65_534 } : {}
  const child = startChild({ place: { dataDir, databaseUrl: null }, do: 'try to lock directory', ...as })
  assert.match(
    await child.nextLine(),
    /cannot be written \(EACCES: .*commonplace\.lock'\): correct its owner, permissions/,
  )
  await child.ended
})

test('nobody but its owner may read the lock, and so hold it, also in a directory that others may enter', () => {
  const dataDir = tempDir()
  chmodSync(dataDir, 0o755)
  const modeOf = (name: string) => statSync(join(dataDir, name)).mode & 0o777
  lockDataDirectory(dataDir).release()
  assert.equal(modeOf('commonplace.lock'), 0o600)
  // As earlier versions left it.
  chmodSync(join(dataDir, 'commonplace.lock'), 0o644)
  const lock = lockDataDirectory(dataDir)
  assert.equal(modeOf('commonplace.lock'), 0o600)
  lock.release()
})

test('a database file that this user may not open is named, with what to do', async () => {
  const dataDir = tempDir()
  // Like a file of somebody else, also for those who may write everything.
  mkdirSync(join(dataDir, 'commonplace.db'))
  await assert.rejects(openDatabase({ dataDir, clock: new SystemClock(), log: silentLogger() }), {
    code: 'failed_precondition',
    message: /^The database file .*commonplace\.db cannot be opened \(EISDIR\): correct its owner and permissions/,
  })
})
