import assert from 'node:assert/strict'
import { join } from 'node:path'
import { constants } from 'node:sqlite'
import { test } from 'node:test'
import { Signals } from '../../src/platform/storage/signals.ts'
import { SqliteConnection } from '../../src/platform/storage/sqlite-connection.ts'
import { SqliteLog } from '../../src/platform/storage/sqlite-log.ts'
import { SqliteWriter } from '../../src/platform/storage/sqlite-writer.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { put } from './storage-items.ts'

const { SQLITE_TRANSACTION, SQLITE_DENY, SQLITE_OK } = constants

test('a change that SQLite refuses to roll back is answered, and the changes after it are made without it', async () => {
  const file = join(tempDir(), 'commonplace.db')
  const connection = new SqliteConnection(file, { readOnly: false })
  const clock = new FakeClock()
  const log = silentLogger()
  const walLog = new SqliteLog(file, clock, async () => {})
  const writer = new SqliteWriter({ connection, walLog, clock, signals: new Signals(log), log })
  connection.handle.exec('create table items (id text primary key, value bigint not null)')
  const refuse = (isRefused: boolean) =>
    connection.handle.setAuthorizer((action, name) =>
      isRefused && action === SQLITE_TRANSACTION && name === 'ROLLBACK' ? SQLITE_DENY : SQLITE_OK,
    )

  refuse(true)
  const failing = [
    writer.write(async (tx) => {
      await put(tx, 'undone', 1)
      throw new Error('on purpose')
    }),
    // It waits in the queue of long ones.
    writer.write((tx) => put(tx, 'behind', 1), { alone: true }),
  ]
  for (const { status } of await Promise.allSettled(failing)) assert.equal(status, 'rejected')
  await assert.rejects(writer.write((tx) => put(tx, 'too early', 1)))
  refuse(false)
  await writer.write((tx) => put(tx, 'later', 1))
  await writer.drain()
  assert.deepEqual(connection.rows('select id from items', []), [{ id: 'later' }])
  assert.equal(clock.waiting, 0)
  writer.close()
})
