import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { readBacklinks } from '../../src/knowledge/link/backlinks.ts'
import { startIndexThread } from '../../src/knowledge/search/index/index-thread.ts'
import { SqliteSearchIndex } from '../../src/knowledge/search/index/sqlite-search-index.ts'
import type { SearchInput } from '../../src/knowledge/search/schema-search.ts'
import { readSearch } from '../../src/knowledge/search/search-request.ts'
import { SearchService } from '../../src/knowledge/search/search-service.ts'
import { placeOf } from '../../src/knowledge/semantic/search/open-vector-search.ts'
import { ThreadVectorSearch } from '../../src/knowledge/semantic/search/thread-vector-search.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { createLogger } from '../../src/platform/logging/logger.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase, SEARCH_FILE } from '../../src/platform/storage/open.ts'
import type { SqliteDatabase } from '../../src/platform/storage/sqlite.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { runningIndex, runUntilClosed } from '../support/running-index.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { IndexedNotes } from './indexed-notes.ts'
import { createNote, openNotes, RunningSync, semanticOf } from './semantic-world.ts'

const RETRY_MS = 3_000

/** A thread whose first commit finds the disk full. */
function fullThread(): Worker {
  const program = `require('node:worker_threads').parentPort.once('message', () => {
    throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })
  })`
  return new Worker(program, { eval: true })
}

async function openIndexed(dataDir: string): Promise<{ db: SqliteDatabase; notes: IndexedNotes }> {
  const options = { clock: new SystemClock(), log: silentLogger() }
  const db = (await openDatabase({ dataDir, ...options })) as SqliteDatabase
  await migrate(db, options)
  return { db, notes: await IndexedNotes.open(db) }
}

/** With the notes 1 to 3, all of them in the index. */
async function indexedDirectory(): Promise<string> {
  const dataDir = tempDir()
  const { db, notes } = await openIndexed(dataDir)
  const index = await runningIndex(db)
  for (const id of [1, 2, 3]) await notes.add(id, `Title${id}`)
  await index.caughtUp()
  await db.close()
  return dataDir
}

function logInto(lines: string[]) {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line).msg) }
  return createLogger({ level: 'info', format: 'json', destination })
}

test('a search index that cannot be written answers with what it has, and goes on by itself', async () => {
  const { db, notes } = await openIndexed(await indexedDirectory())
  await notes.add(4, 'Title4')
  const lines: string[] = []
  const clock = new FakeClock()
  let isFull = true
  const startThread: typeof startIndexThread = (options) => (isFull ? fullThread() : startIndexThread(options))
  const index = new SqliteSearchIndex({ db, clock, log: logInto(lines), startThread })
  const stopping = new AbortController()
  const ended = index.run(stopping.signal)
  // Who waited when it failed, and who comes later.
  for (const _ of [1, 2]) assert.equal(await index.catchUp(), 'behind')
  await assert.rejects(index.caughtUp(), { code: 'unavailable', message: /disk .* is full: free some space/ })
  assert.deepEqual(await notes.named('title'), [1, 2, 3])
  await clock.untilSet(RETRY_MS)
  await clock.advance(RETRY_MS)
  await clock.untilSet(RETRY_MS)
  assert.equal(await index.catchUp(), 'behind')
  assert.deepEqual(lines, ['the search index cannot be written; trying until it can'])

  isFull = false
  await clock.advance(RETRY_MS)
  while ((await index.catchUp()) === 'behind') await nextTurn()
  assert.deepEqual(await notes.named('title'), [1, 2, 3, 4])
  while (lines.length === 1) {
    await clock.advance(1_000)
    await nextTurn()
  }
  assert.deepEqual(lines.slice(1), ['the search index is written again'])
  stopping.abort()
  await ended
  await db.close()
})

test('while it cannot be written, links are listed, and what is excluded by meaning is left out as far as it is known', async () => {
  const options = { clock: new SystemClock(), log: silentLogger() }
  const db = (await openDatabase({ dataDir: tempDir(), ...options })) as SqliteDatabase
  await using _closing = { [Symbol.asyncDispose]: () => db.close() }
  await migrate(db, options)
  const world = await openNotes(db)
  const { external_id: noteId } = await createNote(world, 'Kennel', 'Where dogs sleep.')
  await createNote(world, 'Puppy', 'A young dog and its [[Kennel]].')
  await createNote(world, 'Cat and dog', 'They share a Kennel with a cat.')
  const whole = new SqliteSearchIndex({ db, ...options })
  const stopping = new AbortController()
  const ended = whole.run(stopping.signal)
  await whole.caughtUp()
  stopping.abort()
  await ended
  await createNote(world, 'Hound', 'A dog that hunts, and no cat.')
  await using running = new RunningSync(db)
  await running.sync.caughtUp(world.project.id)
  const searchIndex = new SqliteSearchIndex({ db, ...options, startThread: fullThread })
  await runUntilClosed(db, searchIndex).catch(() => {})
  assert.equal(await searchIndex.catchUp(), 'behind')

  const asked = { page: 1, pageSize: 10 }
  const { backlinks, mentions } = await readBacklinks(
    { db, searchIndex },
    { projectId: world.projectId, noteId },
    asked,
  )
  const titlesOf = (found: readonly { note: { title: string } }[]) => found.map(({ note }) => note.title)
  assert.deepEqual([titlesOf(backlinks), titlesOf(mentions)], [['Puppy'], ['Cat and dog']])
  await using vectors = new ThreadVectorSearch({ place: placeOf(db), maxBytes: 1_000_000, ...options })
  const settings = { vector_k: 100, hybrid_fusion: 'weighted', graph_expansion: false } as never
  const service = new SearchService({ db, ...options, settings, searchIndex, semantic: semanticOf(running, vectors) })
  for (const mode of ['vector', 'hybrid'] as const) {
    const input: SearchInput = {
      text: 'dog NOT cat',
      entity_types: ['entity'],
      retrieval_mode: mode,
      min_similarity: 0,
    }
    const { results, isDegraded } = await service.search(world.project, readSearch(input, 0), { limit: 10, offset: 0 })
    // The index does not know the last one yet.
    assert.deepEqual(results.map(({ title }) => title).toSorted(), ['Hound', 'Kennel', 'Puppy'], mode)
    assert.equal(isDegraded, true)
  }
})

test('a search index that only a search finds damaged is made anew, and nobody is told to restore a backup', async () => {
  const { db, notes } = await openIndexed(await indexedDirectory())
  const lines: string[] = []
  const index = new SqliteSearchIndex({ db, clock: new SystemClock(), log: logInto(lines) })
  await runUntilClosed(db, index)
  const file = new DatabaseSync(join(dirname(db.file), SEARCH_FILE), { defensive: false })
  file.exec(`update note_search_data set block = x'${'ff'.repeat(100)}' where id >= 10`)
  file.close()
  const isMadeAnew = { code: 'unavailable', message: /search index was damaged and is being made anew/ }
  await assert.rejects(notes.named('title'), isMadeAnew)
  await index.caughtUp()
  assert.deepEqual(await notes.named('title'), [1, 2, 3])
  assert.equal(lines[0], 'the search index is damaged: it is made anew')
  await db.close()
})
