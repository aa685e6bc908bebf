import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { openDatabase, SQLITE_FILE } from '../../src/platform/storage/open.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

const ROWS = 6_000

async function filled() {
  const dataDir = tempDir()
  const file = join(dataDir, SQLITE_FILE)
  const db = await openDatabase({ dataDir, clock: new SystemClock(), log: silentLogger() })
  const names: string[] = []
  await db.write(async (tx) => {
    await sql`create table people (id integer primary key, name text not null, note text)`.execute(tx.query)
    await sql`create index people_name on people (name)`.execute(tx.query)
  })
  // In no order, a few at a time: pages of the index are split again and again.
  for (let n = 0; n < ROWS; n += 100) {
    const some = Array.from({ length: 100 }, () => `name-${randomBytes(12).toString('hex')}`)
    names.push(...some)
    await db.write(async (tx) => {
      for (const name of some) await sql`insert into people (name) values (${name})`.execute(tx.query)
    })
  }
  return { db, file, names }
}

function bytesOf(file: string): Buffer {
  return Buffer.concat([file, `${file}-wal`].filter(existsSync).map((one) => readFileSync(one)))
}

function countIn(bytes: Buffer, texts: readonly string[]): number {
  return texts.filter((text) => bytes.includes(text)).length
}

async function assertSound(db: Database): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db.query)
  assert.deepEqual(
    rows.map((row) => row.integrity_check),
    ['ok'],
  )
}

describe('traces in a SQLite file', () => {
  it('are gone once they are erased, from the log and from the unused parts of pages', async () => {
    const { db, file, names } = await filled()
    await db.write((tx) => sql`update people set name = 'x' || id where id <= ${ROWS - 10}`.execute(tx.query))
    const [old, kept] = [names.slice(0, -10), names.slice(-10)]
    assert.ok(countIn(bytesOf(file), old) > 0, 'the log alone would show them')
    await db.eraseTraces()
    const bytes = bytesOf(file)
    assert.equal(countIn(bytes, old), 0)
    assert.equal(countIn(bytes, kept), kept.length)
    assert.equal(statSync(`${file}-wal`).size, 0)
    await assertSound(db)
    await db.close()
  })

  it('are erased while others write, and nothing that was written is lost', async () => {
    const { db, file, names } = await filled()
    await db.write((tx) => sql`delete from people where id % 2 = 0`.execute(tx.query))
    let erasing = true
    let written = 0
    const writers = Array.from({ length: 4 }, async () => {
      while (erasing) {
        const note = randomBytes(20).toString('hex')
        await db.write((tx) =>
          sql`insert into people (name, note) values (${`new-${randomBytes(12).toString('hex')}`}, ${note})`.execute(
            tx.query,
          ),
        )
        written++
      }
    })
    await db.eraseTraces()
    await db.eraseTraces()
    erasing = false
    await Promise.all(writers)
    const bytes = bytesOf(file)
    assert.equal(
      countIn(
        bytes,
        names.filter((_, index) => index % 2 === 1),
      ),
      0,
    )
    const { rows } = await sql<{ count: number }>`select count(*) as count from people`.execute(db.query)
    assert.equal(rows[0]?.count, ROWS / 2 + written)
    await assertSound(db)
    await db.close()
  })

  it('stay as long as somebody reads an older state, and the caller is told', async () => {
    const { db } = await filled()
    const reading = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    const reader = db.read(async (snapshot) => {
      await sql`select count(*) from people`.execute(snapshot.query)
      reading.resolve()
      await done.promise
    })
    await reading.promise
    await db.write((tx) => sql`delete from people`.execute(tx.query))
    await assert.rejects(db.eraseTraces(), { code: 'unavailable' })
    done.resolve()
    await reader
    await db.eraseTraces()
    await db.close()
  })

  it('closes in the middle of it without harm', async () => {
    const { db, file } = await filled()
    const erasing = db.eraseTraces().catch((error: unknown) => error)
    await db.close()
    await erasing
    const again = await openDatabase({ dataDir: join(file, '..'), clock: new SystemClock(), log: silentLogger() })
    await assertSound(again)
    await again.close()
  })
})
