import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase, type Place } from '../support/each-database.ts'
import { SOURCE_FLAGS } from '../support/program.ts'

const WRITER = fileURLToPath(new URL('crash-writer.ts', import.meta.url))
const ACCOUNTS = 8
const BALANCE = 1_000

eachDatabase('a server that is killed while it writes', ({ engine, open, openAgain, placeOf }) => {
  // On PostgreSQL the data are another process's: there is less that a kill of ours can do to them.
  const rounds = engine === 'sqlite' ? 20 : 5
  const mostAnswers = engine === 'sqlite' ? 400 : 100

  test(`keeps every change it answered and no half of one, ${rounds} times`, async (t) => {
    const db = await open({ migrated: false })
    await prepare(db)
    const place = placeOf(db)
    await db.close()
    const acknowledged = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      for (const id of await writeUntilKilled(place, round, mostAnswers)) acknowledged.add(id)
      const again = await openAgain(db)
      await verify(again, acknowledged)
      await again.close()
    }
    t.diagnostic(`${acknowledged.size} changes were answered before the kills`)
  })
})

async function prepare(db: Database): Promise<void> {
  await db.write(async (tx) => {
    await sql`create table halves (id text not null, half text not null, text text not null, primary key (id, half))`.execute(
      tx.query,
    )
    await sql`create table accounts (id integer primary key, balance integer not null)`.execute(tx.query)
    for (let id = 0; id < ACCOUNTS; id++) await sql`insert into accounts values (${id}, ${BALANCE})`.execute(tx.query)
  })
}

/** Kills the writer after a random number of answers, wherever the others are at that moment. */
async function writeUntilKilled(place: Place, round: number, mostAnswers: number): Promise<string[]> {
  const writer = spawn(process.execPath, [...SOURCE_FLAGS, WRITER, JSON.stringify(place), String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(writer, 'exit')
  const answers: string[] = []
  const enough = 1 + Math.floor(Math.random() ** 2 * mostAnswers)
  // Lines as short as these go into a pipe whole or not at all, so the kill leaves no half of an id.
  for await (const line of createInterface({ input: writer.stdout })) {
    answers.push(line)
    if (answers.length === enough) writer.kill('SIGKILL')
  }
  const [, signal] = await ended
  assert.equal(signal, 'SIGKILL', 'the writer ended by itself')
  assert.ok(answers.length >= enough)
  return answers
}

async function verify(db: Database, acknowledged: ReadonlySet<string>): Promise<void> {
  const { rows: halves } = await sql<{ id: string; count: number }>`
    select id, count(*) as count from halves group by id`.execute(db.query)
  const found = new Set(halves.map(({ id }) => id))
  assert.deepEqual(
    [...acknowledged].filter((id) => !found.has(id)),
    [],
    'answered, but lost',
  )
  assert.deepEqual(
    halves.filter(({ count }) => count !== 2),
    [],
    'half of a change',
  )
  assert.deepEqual(
    [...found].filter((id) => Number(id.split('-')[2]) % 10 === 7),
    [],
    'a change that failed',
  )
  const { rows } = await sql<{ total: number }>`select sum(balance) as total from accounts`.execute(db.query)
  assert.equal(rows[0]?.total, ACCOUNTS * BALANCE, 'half of a transfer')
  if (db.engine === 'postgres') return
  const { rows: check } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db.query)
  assert.equal(check[0]?.integrity_check, 'ok')
}
