import assert from 'node:assert/strict'
import { fstatSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { SqliteDatabase } from '../../src/platform/storage/sqlite.ts'
import { SqliteLog } from '../../src/platform/storage/sqlite-log.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { openOver } from './storage-disk.ts'
import { allItems, gate, itemValue, put } from './storage-items.ts'

describe('the writer of SQLite and the disk', () => {
  const opened: Database[] = []
  after(() => Promise.all(opened.map((db) => db.close())))

  test('a change is answered when the disk has it, and the event loop goes on until then', async () => {
    const syncs: ReturnType<typeof gate>[] = []
    const db = await openOver(opened, () => {
      const sync = gate()
      syncs.push(sync)
      return sync.opened
    })
    const answered: string[] = []
    const change = (id: string) =>
      db.write(async (tx) => {
        tx.afterCommit(() => answered.push(`after ${id}`))
        await put(tx, id, 1)
      })
    const all = [change('a').then(() => answered.push('a'))]
    while (syncs.length === 0) await nextTurn()
    all.push(change('b').then(() => answered.push('b')))
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    assert.deepEqual([answered, syncs.length], [[], 1])
    syncs[0]?.open()
    while (syncs.length === 1) await nextTurn()
    assert.deepEqual(answered, ['after a', 'a'])
    syncs[1]?.open()
    await Promise.all(all)
    assert.deepEqual(answered, ['after a', 'a', 'after b', 'b'])
  })

  test('many changes do not wait until the disk has those before them, and are answered after them', async () => {
    const syncs: ReturnType<typeof gate>[] = []
    const begin = () => {
      const sync = gate()
      syncs.push(sync)
      return sync.opened
    }
    // Its time stands still: a batch that takes long ends before all of them are in it.
    const db = await openOver(opened, begin, new FakeClock())
    const answered: number[] = []
    const change = (n: number) => db.write((tx) => put(tx, `${n}`, n)).then(() => answered.push(n))
    const all = [change(0)]
    while (syncs.length === 0) await nextTurn()
    for (let n = 1; n <= 40; n++) all.push(change(n))
    while ((await allItems(db)).size < 41) await nextTurn()
    assert.deepEqual([answered, syncs.length], [[], 1])
    syncs[0]?.open()
    while (syncs.length === 1) await nextTurn()
    assert.deepEqual(answered, [0])
    syncs[1]?.open()
    await Promise.all(all)
    assert.deepEqual(answered, [...Array(41).keys()])
  })

  test('a change that the disk does not confirm is no success, and those after it are safe again', async () => {
    let isBroken = true
    const db = await openOver(opened, async () => {
      if (isBroken) throw Object.assign(new Error('input/output error'), { code: 'EIO' })
    })
    await assert.rejects(
      db.write((tx) => put(tx, 'a', 1)),
      (error) => isAppError(error, 'unavailable') && /may be there or not/.test(error.message),
    )
    isBroken = false
    await db.write((tx) => put(tx, 'b', 2))
    assert.equal(await itemValue(db, 'b'), 2)
    // What was in the log when it failed is in the file: of the log, only what came later is needed.
    assert.ok(statSync(`${db.file}-wal`).size <= 10_000, `${statSync(`${db.file}-wal`).size}`)
  })

  test('a disk that confirms nothing is told of once, and once that it does again', async () => {
    const told: string[] = []
    const destination = { write: (line: string) => void told.push(JSON.parse(line).level) }
    const log = createLogger({ level: 'info', format: 'json', destination })
    let isBroken = true
    const sync = async () => {
      if (isBroken) throw new Error('input/output error')
    }
    const db = await openOver(opened, sync, new SystemClock(), log)
    for (const id of ['a', 'b']) await assert.rejects(db.write((tx) => put(tx, id, 1)))
    isBroken = false
    for (const id of ['c', 'd']) await db.write((tx) => put(tx, id, 1))
    assert.deepEqual(told, ['error', 'info'])
  })

  test('a change that goes into a log which somebody has removed is no success', async () => {
    const db = await openOver(opened, async () => {})
    await db.write((tx) => put(tx, 'a', 1))
    rmSync(`${db.file}-wal`)
    await assert.rejects(
      db.write((tx) => put(tx, 'b', 2)),
      (error) => isAppError(error, 'unavailable') && /was removed/.test((error.cause as Error).message),
    )
  })

  test('a change that goes into a database which somebody has removed is no success', async () => {
    const db = await openOver(opened, async () => {})
    await db.write((tx) => put(tx, 'a', 1))
    rmSync(db.file)
    await assert.rejects(
      db.write((tx) => put(tx, 'b', 2)),
      (error) => isAppError(error, 'unavailable') && /\.db was removed/.test((error.cause as Error).message),
    )
  })

  test('a directory that gets another name under its database keeps nobody from changing it', async () => {
    const db = await openOver(opened, async () => {})
    await db.write((tx) => put(tx, 'a', 1))
    renameSync(dirname(db.file), `${dirname(db.file)}-moved`)
    await db.write((tx) => put(tx, 'b', 2))
    renameSync(`${dirname(db.file)}-moved`, dirname(db.file))
    await db.write((tx) => put(tx, 'c', 3))
  })

  test('a change behind one that the disk does not confirm is no success either, and whoever sees them hears of both', async () => {
    const syncs: ReturnType<typeof Promise.withResolvers<void>>[] = []
    const begin = () => {
      const sync = Promise.withResolvers<void>()
      syncs.push(sync)
      return sync.promise
    }
    const db = await openOver(opened, begin, new FakeClock())
    const [told, heard]: number[][] = [[], []]
    db.subscribe('topic', (body) => heard?.push(Number(body)))
    const change = (n: number) =>
      db.write(async (tx) => {
        await put(tx, `${n}`, n)
        tx.afterCommit(() => told?.push(n))
        tx.signal('topic', `${n}`)
      })
    const all = [change(0)]
    while (syncs.length === 0) await nextTurn()
    for (let n = 1; n <= 40; n++) all.push(change(n))
    const settled = Promise.allSettled(all)
    while ((await allItems(db)).size < 41) await nextTurn()
    syncs[0]?.reject(Object.assign(new Error('input/output error'), { code: 'EIO' }))
    for (const one of await settled) assert.ok(one.status === 'rejected' && isAppError(one.reason, 'unavailable'))
    assert.equal(syncs.length, 1)
    assert.deepEqual([told, heard], Array(2).fill([...Array(41).keys()]))
  })

  test('a quick disk is waited for at once, a slow one aside, and asked from time to time whether it still is', async () => {
    const db = await openOver(opened, async () => {})
    let elapsedMs = 0
    let stepMs = 0
    const clock = Object.assign(new SystemClock(), { elapsedMs: () => (elapsedMs += stepMs) })
    const walLog = new SqliteLog(db.file, clock)
    /** How many syncs in a row are made aside. */
    const aside = async () => {
      for (let count = 0; ; count++) {
        const synced = walLog.sync()
        if (synced === undefined) return count
        await synced
      }
    }
    // The first one opens the log.
    assert.equal(await aside(), 1)
    assert.equal(await aside(), 0)
    // Late once.
    stepMs = 1
    assert.equal(await aside(), 0)
    stepMs = 0
    assert.equal(await aside(), 0)
    stepMs = 5
    assert.equal(await aside(), 0)
    assert.equal(await aside(), 31)
    assert.equal(await aside(), 31)
    stepMs = 0
    assert.equal(await aside(), 31)
    assert.equal(await aside(), 0)
    walLog.close()
  })

  test('a disk so slow that all would have to wait is asked nothing until it is quicker', async () => {
    const db = await openOver(opened, async () => {})
    let elapsedMs = 0
    let stepMs = 100
    const clock = Object.assign(new SystemClock(), { elapsedMs: () => (elapsedMs += stepMs) })
    const walLog = new SqliteLog(db.file, clock)
    await walLog.sync()
    assert.equal(walLog.sync(), undefined)
    for (let count = 0; count < 100; count++) {
      const synced = walLog.sync()
      assert.ok(synced)
      await synced
    }
    stepMs = 1
    await walLog.sync()
    assert.equal(walLog.sync(), undefined)
    walLog.close()
  })

  test('through a link the log of the file that it leads to is synced, whatever lies beside the link', async () => {
    const [here, elsewhere] = [tempDir(), tempDir()].map((folder) => join(folder, 'commonplace.db')) as [string, string]
    symlinkSync(elsewhere, here)
    writeFileSync(elsewhere, '')
    writeFileSync(`${here}-wal`, 'of a file that was here before')
    const synced: number[] = []
    const db = new SqliteDatabase(here, new SystemClock(), silentLogger(), async (descriptor) => {
      synced.push(fstatSync(descriptor).ino)
    })
    opened.push(db)
    await db.write((tx) => sql`create table items (id text primary key, value bigint not null)`.execute(tx.query))
    assert.deepEqual(synced, [statSync(`${elsewhere}-wal`).ino])
  })

  test('closing waits until the disk has everything', async () => {
    const sync = gate()
    const db = await openOver(opened, () => sync.opened)
    const events: string[] = []
    const changed = db.write((tx) => put(tx, 'a', 1)).then(() => events.push('changed'))
    opened.splice(opened.indexOf(db), 1)
    const closed = db.close().then(() => events.push('closed'))
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    assert.deepEqual(events, [])
    sync.open()
    await Promise.all([changed, closed])
    assert.deepEqual(events, ['changed', 'closed'])
  })
})
