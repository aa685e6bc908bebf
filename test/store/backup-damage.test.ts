import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { createBackup } from '../../src/platform/backup/backup.ts'
import { checkBackup, restoreBackup } from '../../src/platform/backup/restore.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase, SQLITE_FILE } from '../../src/platform/storage/open.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { fillWithSamples } from './backup-samples.ts'

const clock = new SystemClock()
const log = silentLogger()

/** Refused by restore and by the check alike, with nothing left in the data directory. */
async function refused(file: string, reason: RegExp): Promise<void> {
  const dataDir = tempDir()
  await assert.rejects(checkBackup({ file }), reason)
  await assert.rejects(restoreBackup({ file, dataDir, clock, log }), reason)
  assert.equal(existsSync(join(dataDir, SQLITE_FILE)), false)
  assert.equal(existsSync(join(dataDir, '.restoring')), false)
}

describe('a damaged backup', () => {
  const directory = tempDir()
  const dump = join(directory, 'backup.jsonl.gz')
  const file = join(directory, 'backup.db')
  const bad = join(directory, 'bad')

  before(async () => {
    await using db = await openDatabase({ dataDir: tempDir(), clock, log })
    await migrate(db, { clock, log })
    await fillWithSamples(db)
    await createBackup({ db, file: dump, clock, format: 'dump' })
    await createBackup({ db, file, clock })
  })

  test('that was cut off anywhere is refused', async () => {
    const bytes = readFileSync(dump)
    for (const share of [0.01, 0.3, 0.7, 0.99]) {
      writeFileSync(bad, bytes.subarray(0, Math.floor(bytes.length * share)))
      await refused(bad, /is damaged \(its end is missing\)/)
    }
    writeFileSync(bad, bytes.subarray(0, bytes.length - 1))
    await refused(bad, /is damaged/)
  })

  test('that was cut off between two lines before it was packed is refused', async () => {
    const lines = gunzipSync(readFileSync(dump)).toString().trimEnd().split('\n')
    for (const keep of [1, 5, lines.length - 1]) {
      writeFileSync(bad, gzipSync(`${lines.slice(0, keep).join('\n')}\n`))
      await refused(bad, /is damaged \(its end is missing\)/)
    }
  })

  test('in which a byte, a row or the order changed is refused', async () => {
    const bytes = Buffer.from(readFileSync(dump))
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] as number) ^ 0x10
    writeFileSync(bad, bytes)
    await refused(bad, /is damaged|is refused/)
    const lines = gunzipSync(readFileSync(dump)).toString().trimEnd().split('\n')
    const row = lines.findIndex((line) => line.startsWith('[') && line.includes('"u7@example.org"'))
    for (const changed of [
      lines.toSpliced(row, 1),
      lines.toSpliced(row, 0, lines[row] as string),
      lines.with(row, (lines[row] as string).replace('u7@', 'u8@')),
    ]) {
      writeFileSync(bad, gzipSync(`${changed.join('\n')}\n`))
      await refused(bad, /is damaged|is refused/)
    }
    for (const [line, reason] of [
      ['["u7"]', /a row of table users is malformed/],
      ['[{"x":1}]', /malformed/],
      ['["u7"', /not JSON/],
      ['null', /no meaning/],
      ['{"table":5}', /no meaning/],
      ['{"table":"users; drop table users","columns":["id"]}', /that its schema does not have/],
      ['{"table":"users","columns":["id) --"]}', /that its schema does not have/],
    ] as const) {
      writeFileSync(bad, gzipSync(`${lines.with(row, line).join('\n')}\n`))
      await refused(bad, reason)
    }
    writeFileSync(bad, gzipSync(`${lines.join('\n')}\n["more"]\n`))
    await refused(bad, /something follows its last line/)
  })

  test('that is something else is refused', async () => {
    for (const content of [
      '',
      'hello',
      gzipSync('hello\n'),
      gzipSync(''),
      gzipSync('{"format":"other"}\n'),
      gzipSync('null\n'),
    ]) {
      writeFileSync(bad, content)
      await refused(bad, /is no backup of Commonplace/)
    }
    await refused(join(directory, 'missing'), /cannot be read: there is no such file/)
    await refused(directory, /cannot be read: it is a directory/)
  })

  test('in a format of a later version is refused', async () => {
    const lines = gunzipSync(readFileSync(dump)).toString().split('\n')
    writeFileSync(bad, gzipSync(lines.with(0, (lines[0] as string).replace('"version":1', '"version":2')).join('\n')))
    await refused(bad, /has format 2, this version of Commonplace reads 1/)
  })

  test('that is a SQLite file with missing or changed pages is refused', async () => {
    copyFileSync(file, bad)
    truncateSync(bad, readFileSync(file).length - 8 * 4096)
    await refused(bad, /is damaged/)
    const bytes = Buffer.from(readFileSync(file))
    bytes.fill(0xff, 4096 * 3, 4096 * 12)
    writeFileSync(bad, bytes)
    await refused(bad, /is damaged/)
  })

  test('that is a SQLite file of a newer version or another program is refused', async () => {
    const dataDir = tempDir()
    const db = await openDatabase({ dataDir, clock, log })
    await db.write((tx) => sql`create table recipes (id integer)`.execute(tx.query))
    await db.close()
    await refused(join(dataDir, SQLITE_FILE), /is no backup of Commonplace/)
    const newer = await openDatabase({ dataDir, clock, log })
    await migrate(newer, { clock, log })
    await newer.write((tx) =>
      tx.query.insertInto('schema_migrations').values({ number: 99, name: 'x', applied_at: 1 }).execute(),
    )
    await newer.close()
    await refused(join(dataDir, SQLITE_FILE), /made by a newer version/)
  })

  test('that is the database of a running server is refused', async () => {
    const dataDir = tempDir()
    await using db = await openDatabase({ dataDir, clock, log })
    await migrate(db, { clock, log })
    await refused(join(dataDir, SQLITE_FILE), /is a database in use, not a backup/)
  })
})

test('the backup of a database that is damaged is refused and says so', async () => {
  const dataDir = tempDir()
  const db = await openDatabase({ dataDir, clock, log })
  await migrate(db, { clock, log })
  await fillWithSamples(db)
  const { rows } = await sql<{ page: number }>`
    select rootpage as page from sqlite_master where name = 'note_contents'`.execute(db.query)
  await db.close()
  const file = join(dataDir, SQLITE_FILE)
  const bytes = Buffer.from(readFileSync(file))
  const start = ((rows[0] as { page: number }).page - 1) * 4096
  bytes.fill(0xff, start, start + 4096)
  writeFileSync(file, bytes)
  await using damaged = await openDatabase({ dataDir, clock, log })
  const target = join(tempDir(), 'backup.db')
  const isTold = {
    code: 'unavailable',
    message: /database file is damaged, or its disk fails: .*run "commonplace doctor"/,
  }
  for (const format of ['sqlite', 'dump'] as const) {
    await assert.rejects(createBackup({ db: damaged, file: target, clock, format }), isTold, format)
    assert.equal(existsSync(target), false)
  }
})
