import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type pg from 'pg'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { PostgresDatabase } from '../../src/platform/storage/postgres.ts'
import { PooledClient } from '../../src/platform/storage/postgres-client.ts'
import { statement } from '../../src/platform/storage/statement.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { HastyClock } from '../support/hasty-clock.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { tempDir } from '../support/temp-dir.ts'
import { gate, increment, itemValue, put } from './storage-items.ts'

const unavailable = postgresUnavailable()
// Real time: nothing that works takes so long, on a busy machine either.
const SILENCE_MS = 1_000

describe('storage on PostgreSQL', { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
  let database: TestDatabase
  let db: Database
  let other: Database
  const options = { clock: new SystemClock(), log: silentLogger(), dataDir: tempDir(), poolSize: 4 }

  before(async () => {
    database = await createDatabase({ migrated: false })
    db = await openDatabase({ ...options, databaseUrl: database.url })
    other = await openDatabase({ ...options, databaseUrl: database.url })
    await db.write((tx) => sql`create table items (id text primary key, value bigint not null)`.execute(tx.query))
  })

  after(async () => {
    await Promise.all([db.close(), other.close()])
    await database.drop()
  })

  /** Ends every connection to the database but the one that asks. */
  async function killConnections(): Promise<void> {
    const { default: pg } = await import('pg')
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await client.end()
  }

  /** After an outage the pool may hold several dead connections; each costs one failure that says so. */
  async function eventually<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (!isAppError(error, 'unavailable') || tries > 20) throw error
      }
    }
  }

  test('a statement that was planned for a small table is planned anew when the table has grown', async () => {
    const client = new PooledClient({ connectionString: database.url })
    await client.connect()
    let name = 'look'
    const look = () => client.query({ name, text: 'select id from growing where id = $1', values: [0] })
    const plan = async () => (await client.query(`explain (costs off) execute ${name} (0)`)).rows[0]['QUERY PLAN']
    const planForSmall = async () => {
      // Of a statement that was once planned for the large table the server remembers what that cost, and keeps no plan any more.
      name += '_again'
      await client.query('drop table if exists growing')
      await client.query('create table growing (id int primary key) with (autovacuum_enabled = false)')
      await client.query('insert into growing values (0)')
      await client.query('analyze growing')
      for (let times = 0; times < 10; times++) await look()
      await client.query('insert into growing select generate_series(1, 20000)')
      return plan()
    }
    // The server forgets all plans by itself when others change very many tables at once: then nothing is to be seen here.
    while (!(await planForSmall()).startsWith('Seq Scan'));
    for (let times = 0; times < 1_000; times++) await look()
    assert.match(await plan(), /^Index/)
    await client.query('drop table growing')
    await client.end()
  })

  test('statements that are sent one after the other without waiting go out together', async () => {
    const client = new PooledClient({ connectionString: database.url, pipeline: true } as pg.ClientConfig)
    await client.connect()
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    let writes = 0
    for (const name of ['_write', '_writev'] as const) {
      const write = stream[name]?.bind(stream) as (...args: unknown[]) => void
      stream[name] = (...args: unknown[]) => {
        writes++
        write(...args)
      }
    }
    const send = async (text: string) => void answers.push((await client.query({ text })).rows[0].value)
    const answers: number[] = []
    const sent: Promise<void>[] = []
    for (const value of [1, 2, 3]) {
      sent.push(send(`select ${value} as value`))
      await Promise.resolve()
    }
    await Promise.all(sent)
    assert.deepEqual(answers, [1, 2, 3])
    assert.equal(writes, 1)
    await send('select 4 as value')
    assert.deepEqual([answers.at(-1), writes], [4, 2])
    await client.end()
  })

  test('two increments that meet are both done, because the loser is run again', async () => {
    await db.write((tx) => put(tx, 'counter', 0))
    const bothHaveRead = gate()
    let readers = 0
    let runs = 0
    const add = (target: Database) =>
      target.write(async (tx) => {
        runs++
        await itemValue(tx, 'counter')
        if (++readers === 2) bothHaveRead.open()
        await bothHaveRead.opened
        await increment(tx, 'counter')
      })
    await Promise.all([add(db), add(other)])
    assert.equal(await itemValue(db, 'counter'), 2)
    assert.equal(runs, 3)
  })

  test('a change that others come in between of a dozen times is made all the same, and none is made again for ever', async () => {
    const busy = new PostgresDatabase({ ...options, clock: new HastyClock(), url: database.url })
    await busy.open()
    let runs = 0
    const change = (lost: number) =>
      busy.write(async (tx) => {
        if (++runs <= lost) await sql`do $$ begin raise sqlstate '40001'; end $$`.execute(tx.query)
        await put(tx, 'busy', 1)
      })
    await change(12)
    assert.equal(await itemValue(db, 'busy'), 1)
    assert.equal(runs, 13)
    await assert.rejects(change(Number.POSITIVE_INFINITY), (error) => isAppError(error, 'aborted'))
    await busy.close()
  })

  test('a signal reaches the other process once it can see the change', async () => {
    const { promise: seen, resolve, reject } = Promise.withResolvers<[string, number | undefined]>()
    const unsubscribe = other.subscribe('news', (body) => {
      // Those who listen are woken after an outage, too: then nobody waits here any more.
      unsubscribe()
      itemValue(other, 'signalled').then((value) => resolve([body, value]), reject)
    })
    await db.write(async (tx) => {
      await put(tx, 'signalled', 1)
      tx.signal('news', 'hello "you" ✓')
    })
    assert.deepEqual(await seen, ['hello "you" ✓', 1])
  })

  test('a stranger on the channel disturbs nobody', async () => {
    const heard = gate()
    db.subscribe('after noise', heard.open)
    for (const noise of ['', 'no json', '[]', '[1,2]', '{"a":1}', 'null', '["after"]']) {
      await sql`select pg_notify('commonplace', ${noise})`.execute(db.query)
    }
    await other.write(async (tx) => tx.signal('after noise'))
    await heard.opened
  })

  test('a connection that is lost in the middle of a change says so, and the next change works', async () => {
    await assert.rejects(
      db.write(async (tx) => {
        await put(tx, 'lost', 1)
        await killConnections()
        await put(tx, 'lost too', 1)
      }),
      (error) => isAppError(error, 'unavailable') && /does not answer right now/.test(error.message),
    )
    await eventually(() => db.write((tx) => put(tx, 'found', 1)))
    assert.equal(await eventually(() => itemValue(db, 'lost')), undefined)
    await eventually(() => db.ping())
  })

  test('a statement that an operator cancels, or a limit of the server ends, is no defect of ours', async () => {
    const isUnavailable = (error: unknown) => isAppError(error, 'unavailable')
    const cancelled = db.write((tx) => sql`select pg_sleep(60)`.execute(tx.query))
    const isCancelled = assert.rejects(cancelled, isUnavailable)
    const cancel = sql`select pg_cancel_backend(pid) from pg_stat_activity where query = 'select pg_sleep(60)'`
    while ((await cancel.execute(other.query)).rows.length === 0) await nextTurn()
    await isCancelled
    const limited = db.write(async (tx) => {
      await sql`set local statement_timeout = 10`.execute(tx.query)
      await sql`select pg_sleep(60)`.execute(tx.query)
    })
    await assert.rejects(limited, isUnavailable)
  })

  test('a change whose beginning is refused leaves nothing, though what follows was understood', async () => {
    await using proxy = await startTcpProxy(database.url)
    const garbled = new PostgresDatabase({ ...options, url: proxy.url })
    await garbled.open()
    for (const words of ['begin isolation', 'set local idle']) {
      proxy.garbleNext(words)
      await assert.rejects(
        garbled.write((tx) => put(tx, 'begun', 1)),
        /syntax error/,
      )
    }
    assert.equal(await itemValue(db, 'begun'), undefined)
    await garbled.close()
  })

  test('who listens is woken when the connection is back, and hears signals again', async () => {
    const woken = gate()
    db.subscribe('wake', woken.open)
    await killConnections()
    await woken.opened
    const heard = gate()
    const tell = () => eventually(() => other.write(async (tx) => tx.signal('again', 'now')))
    // Woken once more: the connection that was back was among those that were ended.
    const unsubscribe = db.subscribe('again', (body) => (body === 'now' ? heard.open() : void tell()))
    await tell()
    await heard.opened
    unsubscribe()
  })

  test('a server that falls silent holds nobody for ever, and is used again when it speaks', async () => {
    await using proxy = await startTcpProxy(database.url)
    const quick = new PostgresDatabase({ ...options, url: proxy.url, answerTimeoutMs: SILENCE_MS })
    await quick.open()
    await quick.ping()
    const isUnavailable = (error: unknown) => isAppError(error, 'unavailable')
    await assert.rejects(
      quick.write(async (tx) => {
        proxy.fallSilent()
        await put(tx, 'unheard', 1)
      }),
      isUnavailable,
    )
    proxy.speakAgain()
    await eventually(() => quick.write((tx) => put(tx, 'heard', 1)))
    assert.equal(await itemValue(db, 'unheard'), undefined)
    await quick.write((tx) => sql`select pg_sleep(1.2)`.execute(tx.query), { alone: true })
    await quick.close()
  })

  test('a connection that is lost while it is handed from one to the next fails what is asked of it, and nothing else', async () => {
    await using proxy = await startTcpProxy(database.url)
    const narrow = new PostgresDatabase({ ...options, url: proxy.url, poolSize: 1 })
    await narrow.open()
    const fields = Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')
    const head = Buffer.from('E\0\0\0\0')
    head.writeInt32BE(fields.length + 4, 1)
    proxy.addToNext(Buffer.concat([head, fields]))
    const [asked, waiting] = await Promise.allSettled([narrow.ping(), narrow.write((tx) => put(tx, 'handed over', 1))])
    assert.equal(asked.status, 'fulfilled')
    assert.ok(waiting.status === 'rejected' && isAppError(waiting.reason, 'unavailable'))
    await narrow.write((tx) => put(tx, 'handed over', 2))
    assert.equal(await itemValue(db, 'handed over'), 2)
    await narrow.close()
  })

  test('what may take any time does so while the server is at work on it, and ends when the server knows nothing of it', async () => {
    await using proxy = await startTcpProxy(database.url)
    const quick = new PostgresDatabase({ ...options, url: proxy.url, answerTimeoutMs: SILENCE_MS })
    await quick.open()
    await quick.write((tx) => sql`select pg_sleep(3.5)`.execute(tx.query), { alone: true })
    const lost = [
      quick.write(
        async (tx) => {
          await put(tx, 'unheard', 1)
          proxy.forgetConnections()
          await put(tx, 'unheard', 2)
        },
        { alone: true },
      ),
      quick.read(
        async (snapshot) => {
          await itemValue(snapshot, 'wanted')
          proxy.forgetConnections()
          await itemValue(snapshot, 'wanted')
        },
        { isLong: true },
      ),
    ]
    const settled = await Promise.allSettled<unknown>(lost)
    assert.ok(settled.every((one) => one.status === 'rejected' && isAppError(one.reason, 'unavailable')))
    proxy.speakAgain()
    await eventually(() => quick.write((tx) => put(tx, 'unheard', 3)))
    assert.equal(await itemValue(db, 'unheard'), 3)
    await quick.close()
  })

  test('a process that falls silent in the middle of a change keeps others waiting for a while, not for ever', async () => {
    const silent = new PostgresDatabase({ ...options, url: database.url, silentWriterMs: SILENCE_MS })
    await silent.open()
    await db.write((tx) => put(tx, 'wanted', 1))
    const hasIt = gate()
    const goesOn = gate()
    const stalled = silent.write(async (tx) => {
      await increment(tx, 'wanted')
      hasIt.open()
      await goesOn.opened
      await put(tx, 'too late', 1)
    })
    const isRefused = assert.rejects(stalled, (error) => isAppError(error, 'unavailable'))
    await hasIt.opened
    await other.write((tx) => increment(tx, 'wanted'), { isolation: 'read committed' })
    goesOn.open()
    await isRefused
    assert.equal(await itemValue(db, 'wanted'), 2)
    assert.equal(await itemValue(db, 'too late'), undefined)
    await eventually(() => silent.write((tx) => put(tx, 'in time', 1)))
    await silent.close()
  })

  test('a table that another version changes is read and written on, although statements were prepared before', async () => {
    const whole = statement<{ id: string }, { id: string }>(
      (_query, p) => sql`select * from items where id = ${p('id')}`,
    )
    const ofItem = { id: 'remembered' }
    await db.write((tx) => put(tx, ofItem.id, 1))
    const inChange = () => db.write((tx) => tx.run(whole, ofItem), { isolation: 'read committed' })
    const inSnapshot = () => db.read((snapshot) => snapshot.run(whole, ofItem))
    /** On each connection of the pool. */
    const everywhere = (read: () => Promise<unknown[]>) => Promise.all(Array.from({ length: options.poolSize }, read))
    for (const [number, read] of [inChange, inSnapshot, () => db.run(whole, ofItem)].entries()) {
      await everywhere(inSnapshot)
      const column = sql.ref(`more_${number}`)
      await other.write((tx) => sql`alter table items add column ${column} integer`.execute(tx.query))
      const found = read === inSnapshot ? await eventually(read) : (await everywhere(read))[0]
      assert.equal(found?.length, 1)
    }
  })

  test('a connection that listens and falls silent is found out by the next question, and replaced', async () => {
    await using proxy = await startTcpProxy(database.url)
    const clock = new FakeClock()
    const listening = new PostgresDatabase({ ...options, clock, url: proxy.url, answerTimeoutMs: SILENCE_MS })
    await listening.open()
    let wakeUps = 0
    const woken = gate()
    listening.subscribe('wake', () => {
      wakeUps++
      woken.open()
    })
    /** Until it sleeps, before the next question or the next try. */
    const asleep = async () => {
      while (clock.waiting === 0) await nextTurn()
    }
    for (let questions = 0; questions < 3; questions++) {
      await asleep()
      await clock.advance(30_000)
    }
    await asleep()
    assert.equal(wakeUps, 0)
    proxy.fallSilent()
    await clock.advance(30_000)
    await asleep()
    proxy.speakAgain()
    await clock.advance(100)
    await woken.opened
    await listening.close()
  })

  test('a server that is not there is told in one sentence', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => probe.once('listening', resolve))
    const { port } = probe.address() as { port: number }
    await new Promise((resolve) => probe.close(resolve))
    await assert.rejects(
      openDatabase({ ...options, databaseUrl: `postgres://nobody@127.0.0.1:${port}/nothing` }),
      (error) => isAppError(error, 'unavailable'),
    )
  })
})
