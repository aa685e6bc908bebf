import assert from 'node:assert/strict'
import { chmodSync, existsSync, readdirSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createBackup } from '../../src/platform/backup/backup.ts'
import { checkBackup, restoreBackup } from '../../src/platform/backup/restore.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { lockDataDirectory } from '../../src/platform/storage/data-lock.ts'
import { openDatabase, SQLITE_FILE } from '../../src/platform/storage/open.ts'
import { eachDatabase, type Place } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { addProject, contentsOf, fillWithSamples } from './backup-samples.ts'

const clock = new SystemClock()
const log = silentLogger()

eachDatabase('backup and restore', ({ engine, open, placeOf }) => {
  const formats = engine === 'sqlite' ? (['sqlite', 'dump'] as const) : (['dump'] as const)

  async function emptyPlace(): Promise<Place> {
    const db = await open({ migrated: false })
    await db.close()
    return placeOf(db)
  }

  for (const format of formats) {
    test(`what was backed up as ${format} is there after a restore, to the byte`, async () => {
      const db = await open()
      await fillWithSamples(db)
      const file = join(tempDir(), 'backup')
      const made = await createBackup({ db, file, clock, format })
      const place = await emptyPlace()
      const restored = await restoreBackup({ file, ...place, clock, log })
      assert.deepEqual(restored, { format, schema: made.schema, rows: made.rows })
      assert.deepEqual(await checkBackup({ file }), restored)
      await using copy = await openDatabase({ ...place, clock, log })
      assert.deepEqual(await contentsOf(copy), await contentsOf(db))
      assert.equal(made.rows.users, 1_200)
      assert.equal(made.rows.rate_windows, undefined)
      assert.equal(await addProject(copy, 'next'), 6)
    })

    test(`a backup as ${format} holds one state although others write all the time, and it ends`, async () => {
      const db = await open()
      await fillWithSamples(db)
      let writing = true
      let pairs = 0
      const writer = (async () => {
        while (writing) {
          await db.write(async (tx) => {
            for (const half of ['a', 'b']) {
              const key = `pair ${pairs} ${half}`
              await sql`insert into installation (key, value, created_at) values (${key}, ${'x'.repeat(500)}, 1)`.execute(
                tx.query,
              )
            }
          })
          pairs++
        }
      })()
      const file = join(tempDir(), 'backup')
      const made = await createBackup({ db, file, clock, format })
      writing = false
      await writer
      assert.equal((made.rows.installation as number) % 2, 0)
      const place = await emptyPlace()
      await restoreBackup({ file, ...place, clock, log })
      await using copy = await openDatabase({ ...place, clock, log })
      assert.equal((await contentsOf(copy)).installation?.length, made.rows.installation)
    })

    const linked = async () => {
      const db = await open()
      const [dataDir, disk, file] = [tempDir(), tempDir(), join(tempDir(), 'backup')]
      await createBackup({ db, file, clock, format })
      symlinkSync(join(disk, 'large.db'), join(dataDir, SQLITE_FILE))
      await restoreBackup({ file, dataDir, clock, log })
      assert.equal(readlinkSync(join(dataDir, SQLITE_FILE)), join(disk, 'large.db'))
      assert.deepEqual(readdirSync(disk), ['large.db'])
      await using copy = await openDatabase({ dataDir, clock, log })
      assert.deepEqual(await contentsOf(copy), await contentsOf(db))
    }
    if (engine === 'sqlite') test(`a restore of ${format} into a link fills what the link leads to`, linked)

    test(`a backup as ${format} is for its owner only and replaces nothing unless told to`, async () => {
      const db = await open()
      const directory = tempDir()
      const file = join(directory, 'backup')
      await createBackup({ db, file, clock, format })
      assert.equal(statSync(file).mode & 0o777, 0o600)
      await assert.rejects(
        createBackup({ db, file, clock, format }),
        /exists already: choose another name or add --force/,
      )
      await fillWithSamples(db)
      await createBackup({ db, file, clock, format, force: true })
      assert.equal((await checkBackup({ file })).rows.users, 1_200)
      assert.deepEqual(readdirSync(directory), ['backup'])
    })

    const skip = engine === 'postgres' && 'the server keeps its files'
    test(`what ${format} restores is for its owner only, whatever the rights of the backup are`, { skip }, async () => {
      const db = await open()
      const file = join(tempDir(), 'backup')
      await createBackup({ db, file, clock, format })
      for (const mode of [0o644, 0o400]) {
        chmodSync(file, mode)
        const place = await emptyPlace()
        await restoreBackup({ file, ...place, clock, log })
        assert.equal(statSync(join(place.dataDir, SQLITE_FILE)).mode & 0o777, 0o600)
      }
    })

    test(`restoring ${format} is refused when the target holds a row, and the row stays`, async () => {
      const db = await open()
      await fillWithSamples(db)
      const file = join(tempDir(), 'backup')
      await createBackup({ db, file, clock, format })
      const target = await open()
      await addProject(target, 'mine')
      const before = await contentsOf(target)
      await target.close()
      await assert.rejects(
        restoreBackup({ file, ...placeOf(target), clock, log }),
        /is not empty \(table projects has rows\)/,
      )
      await using again = await openDatabase({ ...placeOf(target), clock, log })
      assert.deepEqual(await contentsOf(again), before)
    })

    test(`${format} restores into a database that was migrated but never used`, async () => {
      const db = await open()
      await fillWithSamples(db)
      const file = join(tempDir(), 'backup')
      await createBackup({ db, file, clock, format })
      const target = await open()
      await target.close()
      await restoreBackup({ file, ...placeOf(target), clock, log })
      await using copy = await openDatabase({ ...placeOf(target), clock, log })
      assert.deepEqual(await contentsOf(copy), await contentsOf(db))
    })
  }

  test('restore refuses to run beside a server', async () => {
    const db = await open()
    const file = join(tempDir(), 'backup')
    await createBackup({ db, file, clock })
    const place = await emptyPlace()
    const lock = lockDataDirectory(place.dataDir)
    await assert.rejects(restoreBackup({ file, ...place, clock, log }), /already uses the data directory/)
    lock.release()
    await restoreBackup({ file, ...place, clock, log })
  })

  test('a database without tables has nothing to back up', async () => {
    const db = await open({ migrated: false })
    const file = join(tempDir(), 'backup')
    await assert.rejects(createBackup({ db, file, clock }), /nothing to back up/)
    assert.equal(existsSync(file), false)
  })

  test('a backup that cannot be written says why and leaves nothing behind', async () => {
    const db = await open()
    const directory = tempDir()
    const blocker = join(directory, 'file')
    writeFileSync(blocker, '')
    await assert.rejects(
      createBackup({ db, file: join(blocker, 'backup'), clock }),
      /cannot be written: a part of its path is no directory/,
    )
    await assert.rejects(createBackup({ db, file: directory, clock }), /is a directory: name a file/)
    chmodSync(blocker, 0o400)
    assert.deepEqual(readdirSync(directory), ['file'])
  })
})
