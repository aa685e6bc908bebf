import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { type FromIndexThread, startIndexThread } from '../../src/knowledge/search/index/index-thread.ts'
import { SqliteSearchIndex } from '../../src/knowledge/search/index/sqlite-search-index.ts'
import { placeIndexFile } from '../../src/knowledge/search/index/store-index-file.ts'
import { NoteIndexer } from '../../src/knowledge/search/index/store-note-indexer.ts'
import { queueNote, readQueueState } from '../../src/knowledge/search/index/store-search-queue.ts'
import { type Clock, SystemClock } from '../../src/platform/clock/clock.ts'
import { createLogger, type Logger } from '../../src/platform/logging/logger.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase, SEARCH_FILE } from '../../src/platform/storage/open.ts'
import type { SqliteDatabase } from '../../src/platform/storage/sqlite.ts'
import { Supervisor } from '../../src/platform/supervisor/supervisor.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { addProject, insertPlainNote, plainNote } from '../support/plain-notes.ts'
import { runningIndex, runUntilClosed } from '../support/running-index.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { IndexedNotes } from './indexed-notes.ts'

eachDatabase('the search index', ({ open }) => {
  test('a search finds every change that was answered before it began', async () => {
    const db = await open()
    const index = await runningIndex(db)
    const notes = await IndexedNotes.open(db)
    for (let id = 1; id <= 20; id++) {
      await notes.add(id, `Title${id} shared`)
      await index.caughtUp()
      assert.deepEqual(await notes.named(`title${id}`), [id])
    }
    await notes.retitle(7, 'Renamed')
    await notes.remove(8)
    await index.caughtUp()
    assert.deepEqual(await notes.named('title7'), [])
    assert.deepEqual(await notes.named('renamed'), [7])
    assert.deepEqual(await notes.named('title8'), [])
    assert.equal((await notes.named('shared')).length, 18)
  })

  test('searches at the same time as writes each see what was there', async () => {
    const db = await open()
    const index = await runningIndex(db)
    const notes = await IndexedNotes.open(db)
    const work = Array.from({ length: 60 }, async (_, at) => {
      await notes.add(at + 1, `Name${at}x`)
      await index.caughtUp()
      assert.deepEqual(await notes.named(`name${at}x`), [at + 1])
    })
    await Promise.all(work)
  })
})

describe("SQLite's search index", () => {
  const log = silentLogger()

  async function openNotes(dataDir = tempDir()): Promise<{ db: SqliteDatabase; notes: IndexedNotes }> {
    const options = { clock: new SystemClock(), log }
    const db = (await openDatabase({ dataDir, ...options })) as SqliteDatabase
    await migrate(db, options)
    return { db, notes: await IndexedNotes.open(db) }
  }

  interface Watched {
    index: SqliteSearchIndex
    threads: Worker[]
  }

  function watched(db: SqliteDatabase, clock: Clock, logger: Logger = log): Watched {
    const threads: Worker[] = []
    const startThread: typeof startIndexThread = (options) => {
      const thread = startIndexThread(options)
      threads.push(thread)
      const said = new Set<FromIndexThread['type']>()
      lastSaid.set(thread, said)
      thread.on('message', ({ type }: FromIndexThread) => {
        if (type === 'progress') said.clear()
        said.add(type)
      })
      return thread
    }
    return { index: new SqliteSearchIndex({ db, clock, log: logger, startThread }), threads }
  }

  /** By each thread, since its last progress. */
  const lastSaid = new WeakMap<Worker, Set<FromIndexThread['type']>>()

  /** It may have said so already. */
  async function heard(thread: Worker, type: FromIndexThread['type']): Promise<void> {
    if (lastSaid.get(thread)?.has(type)) return
    for await (const [message] of on(thread, 'message')) if ((message as FromIndexThread).type === type) return
  }

  /** In how many places each word has to be looked up. */
  async function parts(db: SqliteDatabase): Promise<number> {
    const { rows } = await sql<{ count: number }>`select count(distinct segid) as count from note_search_idx`.execute(
      db.query,
    )
    return rows[0]?.count ?? 0
  }

  /** Notes that were indexed one by one, by a thread that has nothing more to do. */
  async function manyCommits(notes: number) {
    const opened = await openNotes()
    const clock = new FakeClock()
    const { index, threads } = watched(opened.db, clock)
    await runUntilClosed(opened.db, index)
    for (let id = 1; id <= notes; id++) {
      await opened.notes.add(id, `Title${id} shared`)
      await index.caughtUp()
    }
    const thread = threads[0] as Worker
    await heard(thread, 'idle')
    return { ...opened, clock, index, thread }
  }

  /** As the server does: what fails begins anew, here at once. */
  async function supervised(db: SqliteDatabase, index: SqliteSearchIndex, clock: Clock = new SystemClock()) {
    const supervisor = new Supervisor({ clock, log, firstRestartMs: 1 })
    supervisor.start([index])
    const close = db.close.bind(db)
    db.close = async () => {
      await supervisor.stop(5_000)
      await close()
    }
    await index.caughtUp()
  }

  test('a change stays in the queue until the index would survive a crash of the machine', async () => {
    const dataDir = tempDir()
    const { db, notes } = await openNotes(dataDir)
    const clock = new FakeClock()
    const { index } = watched(db, clock)
    await runUntilClosed(db, index)
    await notes.add(1, 'Coffee')
    await index.caughtUp()
    assert.equal(await notes.queued(), 1)
    await db.close()
    const again = await openNotes(dataDir)
    assert.equal(await again.notes.queued(), 0)
    await runningIndex(again.db)
    assert.deepEqual(await again.notes.named('coffee'), [1])
    await again.db.close()
  })

  test('a project that nothing changed in waits for no other, however many changes of that are queued', async () => {
    const { db, notes } = await openNotes()
    const { index } = watched(db, new FakeClock())
    const ending = new AbortController()
    const ended = index.run(ending.signal)
    const [quiet, other] = [await addProject(db, 'quiet'), await addProject(db, 'other')]
    await notes.add(1, 'Coffee')
    await index.caughtUp()
    // An index that ended has nothing to wait for.
    ending.abort()
    await ended
    await db.write(async (tx) => {
      await insertPlainNote(tx, plainNote(other, 2))
      await queueNote(tx, 2)
      for (let count = 0; count < 2_500; count++) await queueNote(tx, 1)
    })
    assert.equal(await index.catchUp(quiet), 'current')
    await assert.rejects(index.catchUp(other))
    await assert.rejects(index.catchUp(notes.project))
    await db.close()
  })

  test('an index that ended before anybody heard of its commit goes on from there', async () => {
    const { db, notes } = await openNotes()
    const file = join(dirname(db.file), SEARCH_FILE)
    placeIndexFile(file, await readQueueState(db), false)
    for (const id of [1, 2, 3]) await notes.add(id, `Title${id}`, '- [fact] one')
    const indexer = new NoteIndexer({ databaseFile: db.file, indexFile: file })
    assert.equal(indexer.indexSome({ notes: 2, size: 1_000 }).count, 2)
    indexer.close()
    assert.equal(await notes.queued(), 3)
    await runningIndex(db)
    assert.deepEqual(await notes.named('title'), [1, 2, 3])
    assert.equal(await notes.rows(), 6)
    await db.close()
  })

  test('a thread that does not end in time is ended, and the server stops without a failure', async () => {
    const { db, notes } = await openNotes()
    const clock = new FakeClock()
    const { index, threads } = watched(db, clock)
    const stop = new AbortController()
    const running = index.run(stop.signal)
    await notes.add(1, 'Coffee')
    await index.caughtUp()
    // It hears nothing any more.
    ;(threads[0] as Worker).postMessage = () => {}
    stop.abort()
    await clock.advance(2_000)
    await running
    await db.close()
  })

  test('notes that were written while no server ran are found after the next start', async () => {
    const { db, notes } = await openNotes()
    await notes.add(1, 'Coffee')
    await runningIndex(db)
    assert.deepEqual(await notes.named('coffee'), [1])
    await db.close()
  })

  test('what another process wrote is indexed before anybody searches', async () => {
    const { db } = await openNotes()
    const clock = new FakeClock()
    const { index, threads } = watched(db, clock)
    await runUntilClosed(db, index)
    await clock.advance(10_000)
    assert.equal(threads.length, 0)
    const other = await openNotes(dirname(db.file))
    await other.notes.add(1, 'Coffee')
    await clock.advance(3_000)
    assert.equal(threads.length, 1)
    await heard(threads[0] as Worker, 'idle')
    await index.caughtUp()
    assert.equal(threads.length, 1)
    await other.db.close()
    await db.close()
  })

  test('long notes are indexed before anybody searches, though they do not fit into one commit', async () => {
    const { db, notes } = await openNotes()
    const clock = new FakeClock()
    const { index, threads } = watched(db, clock)
    await runUntilClosed(db, index)
    for (const id of [1, 2, 3]) await notes.add(id, `Title${id}`, 'word '.repeat(120_000))
    await clock.advance(200)
    await heard(threads[0] as Worker, 'idle')
    assert.equal(await notes.rows(), 3)
    await db.close()
  })

  test('a server without notes has no thread, and one that has nothing to do ends its thread after a while', async () => {
    const { db, notes } = await openNotes()
    const clock = new FakeClock()
    const { index, threads } = watched(db, clock)
    await runUntilClosed(db, index)
    assert.equal(threads.length, 0)
    await notes.add(1, 'One')
    await index.caughtUp()
    assert.equal(threads.length, 1)
    const thread = threads[0] as Worker
    await heard(thread, 'idle')
    await clock.advance(1_000)
    await heard(thread, 'joined')
    const ended = once(thread, 'exit')
    await clock.advance(10_000)
    await ended
    await notes.add(2, 'Two')
    await index.caughtUp()
    assert.equal(threads.length, 2)
    assert.deepEqual(await notes.named('two'), [2])
    await db.close()
  })

  test('what many small commits left is joined in a quiet moment, and everything is still found', async () => {
    const last = 40
    const { db, notes, clock, thread } = await manyCommits(last)
    assert.ok((await parts(db)) >= 8, `${await parts(db)} parts`)
    await clock.advance(1_000)
    await heard(thread, 'joined')
    assert.ok((await parts(db)) <= 4, `${await parts(db)} parts`)
    assert.equal((await notes.named('shared')).length, last)
    for (const id of [1, 17, last]) assert.deepEqual(await notes.named(`title${id}`), [id])
    await db.close()
  })

  test('a change that comes while parts are joined does not wait for the rest of them', async () => {
    const { db, notes, clock, index, thread } = await manyCommits(40)
    await clock.advance(1_000)
    await notes.add(41, 'Latest')
    await index.caughtUp()
    await heard(thread, 'idle')
    assert.deepEqual(await notes.named('latest'), [41])
    await clock.advance(1_000)
    await heard(thread, 'joined')
    assert.equal((await notes.named('shared')).length, 40)
    await db.close()
  })

  test('a thread that dies is started again, and nothing is missing', async () => {
    const { db, notes } = await openNotes()
    const { index, threads } = watched(db, new SystemClock())
    await supervised(db, index)
    await notes.add(1, 'One')
    await index.caughtUp()
    await threads[0]?.terminate()
    await notes.add(2, 'Two')
    await index.caughtUp()
    assert.deepEqual([...(await notes.named('one')), ...(await notes.named('two'))], [1, 2])
    assert.equal(threads.length, 2)
    await db.close()
  })

  test('a note that cannot be read is left out, and the log names it', async () => {
    const { db, notes } = await openNotes()
    const lines: string[] = []
    const logger = createLogger({ level: 'error', format: 'json', destination: { write: (line) => lines.push(line) } })
    const { index } = watched(db, new SystemClock(), logger)
    await supervised(db, index)
    await notes.add(1, 'One')
    await notes.add(2, 'Two', '', '{ no JSON')
    await notes.add(3, 'Three')
    await index.caughtUp()
    assert.deepEqual(await notes.named('two'), [])
    assert.deepEqual(await notes.named('three'), [3])
    assert.equal(lines.length, 1)
    assert.equal(JSON.parse(lines[0] as string).noteId, 2)
    await db.close()
  })

  test('a note that ends the thread three times is left out until it is changed', async () => {
    const { db, notes } = await openNotes()
    let deaths = 0
    const tried: FromIndexThread[] = []
    const startThread: typeof startIndexThread = (options) => {
      if (options.skip.has(2)) {
        const thread = startIndexThread({ ...options, isCareful: true })
        thread.on('message', (said: FromIndexThread) => said.type === 'trying' && tried.push(said))
        return thread
      }
      if (!options.isCareful) return new Worker('process.exit(1)', { eval: true })
      deaths++
      const said = JSON.stringify({ type: 'trying', noteId: 2, seq: 3 })
      const program = `require('node:worker_threads').parentPort.postMessage(${said}); process.exit(1)`
      return new Worker(program, { eval: true })
    }
    const index = new SqliteSearchIndex({ db, clock: new SystemClock(), log, startThread })
    await supervised(db, index)
    for (const id of [1, 2, 3]) await notes.add(id, `Title${id}`)
    await index.caughtUp()
    assert.equal(deaths, 3)
    assert.deepEqual(await notes.named('title'), [1, 3])
    await notes.retitle(2, 'Title2 mended')
    await index.caughtUp()
    assert.deepEqual(await notes.named('title'), [1, 2, 3])
    assert.deepEqual([deaths, tried.length, tried.at(-1)], [3, 3, { type: 'trying', noteId: 2, seq: 4 }])
    await db.close()
  })

  test('who waits for too long is told to come back, nobody waits for another project, and a server that stops lets nobody wait', async () => {
    const { db, notes } = await openNotes()
    const clock = new FakeClock()
    const program = `require('node:worker_threads').parentPort.on('message', (text) => text === 'stop' && process.exit(0))`
    const startThread = () => new Worker(program, { eval: true })
    const index = new SqliteSearchIndex({ db, clock, log, startThread })
    await runUntilClosed(db, index)
    await notes.add(1, 'Never')
    const refused = { code: 'unavailable', headers: { 'retry-after': '5' } }
    const late = assert.rejects(index.caughtUp(), refused)
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(10_000)
    await late
    // Nothing of another project waits, until a note is deleted of which nobody knows whose it was.
    const other = await addProject(db, 'elsewhere')
    await index.caughtUp(other)
    await notes.remove(1)
    const waiting = Promise.all([
      assert.rejects(index.caughtUp(notes.project), refused),
      assert.rejects(index.caughtUp(other), refused),
    ])
    await db.close()
    await waiting
  })
})
