/** A PostgreSQL as operators set it up: their settings, roles with few rights, poolers. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { connectVectors } from '../../src/knowledge/semantic/search/store-vector-connection.ts'
import { inspectEngine } from '../../src/platform/backup/inspect.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import { migrate, schemaVersion } from '../../src/platform/storage/migrate.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { refuseReadOnly } from '../../src/platform/storage/postgres-rights.ts'
import { postgresUnavailable, postgresUrl } from '../support/postgres.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { startPooler } from '../support/postgres-pooler.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { tempDir } from '../support/temp-dir.ts'

const unavailable = postgresUnavailable()
const skip = unavailable !== null && `PostgreSQL: ${unavailable}`
const options = { clock: new SystemClock(), log: silentLogger(), dataDir: tempDir(), poolSize: 2 }

async function administrate(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

function nameOf(database: TestDatabase): string {
  return new URL(database.url).pathname.slice(1)
}

async function setting(reader: Reader, name: string): Promise<string> {
  const { rows } = await sql<{ value: string }>`select current_setting(${name}) as value`.execute(reader.query)
  return rows[0]?.value as string
}

describe('PostgreSQL with settings of an operator', { skip }, () => {
  const COUNTED_ON = {
    default_transaction_isolation: { set: 'serializable', used: 'read committed' },
    standard_conforming_strings: { set: 'off', used: 'on' },
    extra_float_digits: { set: '0', used: '1' },
    bytea_output: { set: 'escape', used: 'hex' },
    array_nulls: { set: 'off', used: 'on' },
    gin_fuzzy_search_limit: { set: '5', used: '0' },
    idle_session_timeout: { set: '10min', used: '0' },
  }
  let database: TestDatabase
  let db: Database

  before(async () => {
    database = await createDatabase({ migrated: true })
    const limits = { statement_timeout: '4s', lock_timeout: '3s', idle_in_transaction_session_timeout: '2s' }
    const all = Object.entries(COUNTED_ON).map(([name, { set }]) => [name, set])
    await administrate(
      database.url,
      ...[...all, ...Object.entries(limits)].map(
        ([name, value]) => `alter database ${nameOf(database)} set ${name} = '${value}'`,
      ),
    )
    db = await openDatabase({ ...options, databaseUrl: database.url })
  })

  after(async () => {
    await db.close()
    await database.drop()
  })

  for (const [name, { used }] of Object.entries(COUNTED_ON)) {
    test(`what our statements count on holds whatever ${name} is set to`, async () => {
      assert.equal(await setting(db, name), used)
      const vectors = connectVectors({ engine: 'postgres', url: database.url })
      const rows = await vectors.ask<{ value: string }>('select current_setting(?1) as value', [name])
      await vectors.close()
      assert.equal(rows[0]?.value, used)
    })
  }

  test('limits in time hold for what is short', async () => {
    await db.write(async (tx) => {
      assert.equal(await setting(tx, 'statement_timeout'), '4s')
      assert.equal(await setting(tx, 'lock_timeout'), '3s')
    })
    await db.read(async (snapshot) => {
      assert.equal(await setting(snapshot, 'statement_timeout'), '4s')
      assert.equal(await setting(snapshot, 'idle_in_transaction_session_timeout'), '2s')
    })
  })

  test('limits in time do not end a migration, a restore or a backup', async () => {
    const work = async (reader: Reader) => {
      assert.equal(await setting(reader, 'statement_timeout'), '0')
      assert.equal(await setting(reader, 'lock_timeout'), '0')
    }
    await db.write(work, { alone: true })
    await db.read(
      async (snapshot) => {
        await work(snapshot)
        assert.equal(await setting(snapshot, 'idle_in_transaction_session_timeout'), '0')
      },
      { isLong: true },
    )
    assert.equal(await setting(db, 'statement_timeout'), '4s')
  })

  test('a server that says "done" before a change is on disk is found out', async () => {
    const hasty = await createDatabase({ migrated: false })
    await administrate(hasty.url, `alter database ${nameOf(hasty)} set synchronous_commit = off`)
    const asked = await openDatabase({ ...options, databaseUrl: hasty.url })
    assert.ok((await inspectEngine(asked)).hasty.includes('synchronous_commit = off'))
    assert.ok(!(await inspectEngine(db)).hasty.includes('synchronous_commit = off'))
    await asked.close()
    await hasty.drop()
  })

  test('a server that only reads is named as the reason why a change is not taken', async () => {
    const frozen = await createDatabase({ migrated: true })
    await administrate(frozen.url, `alter database ${nameOf(frozen)} set default_transaction_read_only = on`)
    const reading = await openDatabase({ ...options, databaseUrl: frozen.url })
    try {
      assert.deepEqual((await schemaVersion(reading)).pending, [])
      await assert.rejects(refuseReadOnly(reading), { code: 'failed_precondition', message: /connect to the primary/ })
      await refuseReadOnly(db)
      await assert.rejects(
        reading.write((tx) => sql`create table items (id text)`.execute(tx.query)),
        { code: 'unavailable', message: /takes no changes right now, being a standby/ },
      )
    } finally {
      await reading.close()
      await frozen.drop()
    }
  })

  test('a database that cannot hold every text is refused', async () => {
    const server = await postgresUrl()
    const name = `commonplace_test_latin1_${randomBytes(5).toString('hex')}`
    await administrate(
      server,
      `create database ${name} encoding 'LATIN1' locale_provider libc locale 'C' template template0`,
    )
    const databaseUrl = Object.assign(new URL(server), { pathname: `/${name}` }).href
    try {
      await assert.rejects(openDatabase({ ...options, databaseUrl }), {
        code: 'failed_precondition',
        message: /stores text as LATIN1.*encoding UTF8/,
      })
    } finally {
      await administrate(server, `drop database ${name} with (force)`)
    }
  })
})

describe('PostgreSQL with a role of few rights', { skip }, () => {
  const role = `commonplace_test_${randomBytes(5).toString('hex')}`
  let database: TestDatabase
  let databaseUrl: string

  before(async () => {
    database = await createDatabase({ migrated: false })
    const password = 'a/b:c@d?e#f%g'
    await administrate(database.url, `create role ${role} login password '${password}'`)
    databaseUrl = Object.assign(new URL(database.url), { username: role, password: encodeURIComponent(password) }).href
  })

  after(async () => {
    const server = await postgresUrl()
    await administrate(database.url, `drop owned by ${role} cascade`)
    await database.drop()
    await administrate(server, `drop role ${role}`)
  })

  async function migrateAsRole(): Promise<number> {
    await using db = await openDatabase({ ...options, databaseUrl })
    await migrate(db, options)
    return (await schemaVersion(db)).pending.length
  }

  test('a role that gets no more connections is told so, and what to raise', async () => {
    await administrate(database.url, `alter role ${role} connection limit 0`)
    await assert.rejects(openDatabase({ ...options, databaseUrl }), {
      code: 'unavailable',
      message: /cannot be used: allow more connections \(max_connections, .*or lower storage\.pool_size$/,
    })
    await administrate(database.url, `alter role ${role} connection limit -1`)
  })

  // In order: each gives the role what the one before was refused for.
  test('a role that may create no tables is told so, and what to grant', async () => {
    await assert.rejects(migrateAsRole(), {
      code: 'failed_precondition',
      message: new RegExp(`^The role ${role} may not create tables in the schema public: run 'grant create, usage`),
    })
  })

  test('a role whose schemas are not there is told so', async () => {
    await administrate(database.url, `alter role ${role} set search_path = app`)
    await assert.rejects(migrateAsRole(), { code: 'failed_precondition', message: /^No schema of the search_path/ })
  })

  test('a role that may not create the extension is told who has to', async () => {
    await administrate(database.url, `create schema app authorization ${role}`)
    await assert.rejects(migrateAsRole(), {
      code: 'failed_precondition',
      message: /run 'create extension pg_trgm' in that database as an administrator$/,
    })
  })

  test('an extension in a schema that the role does not look in is used', async () => {
    await administrate(database.url, 'create extension pg_trgm schema public')
    assert.equal(await migrateAsRole(), 0)
  })

  test('a role that may create nothing starts on a schema that is complete', async () => {
    await administrate(database.url, `alter schema app owner to current_user`, `grant usage on schema app to ${role}`)
    assert.equal(await migrateAsRole(), 0)
  })
})

describe('PostgreSQL behind a pooler', { skip }, () => {
  let database: TestDatabase

  before(async () => {
    database = await createDatabase({ migrated: false })
  })
  after(() => database.drop())

  test('one that hands connections on between transactions is refused', async () => {
    await using pooler = await startPooler(database.url)
    await assert.rejects(openDatabase({ ...options, databaseUrl: pooler.url }), {
      code: 'failed_precondition',
      message: /: set it to session mode \(pool_mode = session of PgBouncer\), or connect to PostgreSQL itself$/,
    })
  })

  test('whatever leaves each its own connection is none', async () => {
    await using proxy = await startTcpProxy(database.url)
    await using db = await openDatabase({ ...options, databaseUrl: proxy.url })
    await db.ping()
  })
})

describe('PostgreSQL at an address with a certificate', { skip }, () => {
  test('a certificate that is missing for a while is an outage like others, also for who waits for a connection', async () => {
    const database = await createDatabase({ migrated: false })
    const certificate = join(tempDir(), 'ca.pem')
    writeFileSync(certificate, '')
    const databaseUrl = `${database.url}?sslmode=disable&sslrootcert=${certificate}`
    const db = await openDatabase({ ...options, databaseUrl })
    const isHeld = Promise.withResolvers<void>()
    let holding = 0
    const hold = db.read(async (snapshot) => {
      await sql`select 1`.execute(snapshot.query)
      if (++holding === options.poolSize) isHeld.resolve()
      await isHeld.promise
      rmSync(certificate, { force: true })
      const others = 'pid <> pg_backend_pid() and datname = current_database()'
      await administrate(database.url, `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`)
      await sql`select 1`.execute(snapshot.query)
    })
    const holdToo = db.read(async (snapshot) => {
      await sql`select 1`.execute(snapshot.query)
      if (++holding === options.poolSize) isHeld.resolve()
      await isHeld.promise
      await sql`select pg_sleep(60)`.execute(snapshot.query)
    })
    const waiting = isHeld.promise.then(() => db.ping())
    const ends = await Promise.allSettled([hold, holdToo, waiting])
    assert.deepEqual(
      ends.map((end) => end.status === 'rejected' && end.reason.code),
      ['unavailable', 'unavailable', 'unavailable'],
    )
    await assert.rejects(db.ping(), { code: 'unavailable' })
    writeFileSync(certificate, '')
    await db.ping()
    await db.close()
    await database.drop()
  })

  test('what cannot be agreed on is the certificate, not the password', async () => {
    const database = await createDatabase({ migrated: false })
    for (const mode of ['require', 'verify-full']) {
      await assert.rejects(openDatabase({ ...options, databaseUrl: `${database.url}?sslmode=${mode}` }), {
        code: 'unavailable',
        message: /check sslmode and sslrootcert/,
      })
    }
    await database.drop()
  })
})

test('a connection for which there is no password is closed, so that the process can end', async () => {
  const asksForPassword = Buffer.from('R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0', 'latin1')
  const goesOn = Buffer.from('R\0\0\0\x0e\0\0\0\x0br=nonce', 'latin1')
  const closed = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    const answers = [asksForPassword, goesOn]
    socket.on('data', () => socket.write(answers.shift() ?? ''))
    socket.on('error', () => {})
    socket.on('close', () => closed.resolve())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    await assert.rejects(openDatabase({ ...options, databaseUrl: `postgres://ada@127.0.0.1:${port}/notes` }), {
      code: 'unavailable',
      message: /user and password in storage.database_url/,
    })
    await closed.promise
  } finally {
    server.close()
  }
})
