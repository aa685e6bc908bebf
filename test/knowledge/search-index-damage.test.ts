import assert from 'node:assert/strict'
import { copyFileSync, existsSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { SqliteSearchIndex } from '../../src/knowledge/search/index/sqlite-search-index.ts'
import { createBackup } from '../../src/platform/backup/backup.ts'
import { restoreBackup } from '../../src/platform/backup/restore.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase, SEARCH_FILE, SQLITE_FILE } from '../../src/platform/storage/open.ts'
import type { SqliteDatabase } from '../../src/platform/storage/sqlite.ts'
import { Supervisor } from '../../src/platform/supervisor/supervisor.ts'
import { runningIndex } from '../support/running-index.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { IndexedNotes } from './indexed-notes.ts'

const clock = new SystemClock()
const log = silentLogger()

async function openNotes(dataDir: string): Promise<{ db: SqliteDatabase; notes: IndexedNotes }> {
  const db = (await openDatabase({ dataDir, clock, log })) as SqliteDatabase
  await migrate(db, { clock, log })
  return { db, notes: await IndexedNotes.open(db) }
}

/** A data directory whose index has the notes 1 to 3. */
async function indexedDirectory(): Promise<string> {
  const dataDir = tempDir()
  const { db, notes } = await openNotes(dataDir)
  const index = await runningIndex(db)
  for (const id of [1, 2, 3]) await notes.add(id, `Title${id}`, '- [fact] one')
  await index.caughtUp()
  await db.close()
  return dataDir
}

/** What a server that starts now finds. */
async function foundIn(dataDir: string): Promise<number[]> {
  const { db, notes } = await openNotes(dataDir)
  await runningIndex(db)
  const found = await notes.named('title')
  assert.equal(await notes.rows(), 2 * found.length)
  await db.close()
  return found
}

function changeIndex(dataDir: string, text: string): void {
  const file = new DatabaseSync(join(dataDir, SEARCH_FILE), { defensive: false })
  file.exec(text)
  file.close()
}

describe('a search index that is', () => {
  const damages: Record<string, (dataDir: string, file: string) => void> = {
    missing: (_dataDir, file) => rmSync(file),
    empty: (_dataDir, file) => writeFileSync(file, ''),
    'no database': (_dataDir, file) => writeFileSync(file, 'something else '.repeat(1_000)),
    'cut off': (_dataDir, file) => truncateSync(file, statSync(file).size / 2),
    'without its table': (dataDir) => changeIndex(dataDir, 'drop table note_search'),
    'of another installation': (dataDir) => changeIndex(dataDir, `update index_state set installation = 'other'`),
    'of another format': (dataDir) => changeIndex(dataDir, 'update index_state set format = format - 1'),
    'ahead of the database': (dataDir) => changeIndex(dataDir, 'update index_state set done = done + 1'),
    'behind what the database forgot': (dataDir) => changeIndex(dataDir, 'update index_state set done = done - 1'),
    'half filled': (dataDir) =>
      changeIndex(
        dataDir,
        `delete from note_search where rowid > ${3 * 2 ** 22}; update index_state set filled_to = 2`,
      ),
  }
  for (const [name, damage] of Object.entries(damages)) {
    test(`${name} has all notes after the next start`, async () => {
      const dataDir = await indexedDirectory()
      assert.equal(statSync(join(dataDir, `${SEARCH_FILE}-wal`)).size, 0)
      damage(dataDir, join(dataDir, SEARCH_FILE))
      assert.deepEqual(await foundIn(dataDir), [1, 2, 3])
    })
  }

  test('there beside an older database, which somebody put back, has what that database has', async () => {
    const dataDir = await indexedDirectory()
    const older = join(tempDir(), 'older.db')
    copyFileSync(join(dataDir, SQLITE_FILE), older)
    const { db, notes } = await openNotes(dataDir)
    const index = await runningIndex(db)
    await notes.remove(1)
    await notes.add(4, 'Title4')
    await index.caughtUp()
    await db.close()
    copyFileSync(older, join(dataDir, SQLITE_FILE))
    assert.deepEqual(await foundIn(dataDir), [1, 2, 3])
  })

  test('damaged while the server runs is made anew', async () => {
    const dataDir = await indexedDirectory()
    const { db, notes } = await openNotes(dataDir)
    const index = new SqliteSearchIndex({ db, clock, log })
    const supervisor = new Supervisor({ clock, log, firstRestartMs: 1 })
    supervisor.start([index])
    await index.caughtUp()
    changeIndex(dataDir, `update note_search_data set block = x'00' where id >= 10`)
    await notes.add(4, 'Title4', '- [fact] one')
    await index.caughtUp()
    assert.deepEqual(await notes.named('title'), [1, 2, 3, 4])
    await supervisor.stop(5_000)
    await db.close()
  })

  test('left over from before does not survive a restore', async () => {
    const { db } = await openNotes(await indexedDirectory())
    const file = join(tempDir(), 'backup')
    await createBackup({ db, file, clock, format: 'sqlite' })
    await db.close()
    const target = tempDir()
    writeFileSync(join(target, SEARCH_FILE), 'old')
    await restoreBackup({ file, dataDir: target, clock, log })
    assert.equal(existsSync(join(target, SEARCH_FILE)), false)
    assert.deepEqual(await foundIn(target), [1, 2, 3])
  })
})
