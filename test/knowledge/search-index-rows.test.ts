import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { placeIndexFile } from '../../src/knowledge/search/index/store-index-file.ts'
import { NoteIndexer } from '../../src/knowledge/search/index/store-note-indexer.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { migrate } from '../../src/platform/storage/migrate.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import type { SqliteDatabase } from '../../src/platform/storage/sqlite.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'
import { IndexedNotes } from './indexed-notes.ts'

const ALL = { notes: 100, size: 1_000_000 }

function indexerOf(db: SqliteDatabase, file: string, isNew: boolean): NoteIndexer {
  placeIndexFile(file, { installation: 'x', removed: 0, last: 1_000, hasNotes: isNew }, false)
  return new NoteIndexer({ databaseFile: db.file, indexFile: file })
}

/** Every word of every row with its place, and what is counted of the rows. */
function contentsOf(file: string): unknown[] {
  const index = new DatabaseSync(file)
  try {
    index.exec(`create virtual table temp.places using fts5vocab ('main', 'note_search', 'instance')`)
    return [
      ...index.prepare('select term, doc, col, offset from temp.places order by doc, col, offset, term').all(),
      ...index.prepare('select id, mark, hex(words) as words from note_words order by id').all(),
    ]
  } finally {
    index.close()
  }
}

test("SQLite's search index has the same rows whether notes were changed again and again or read once", async () => {
  const line = fc.constantFrom(
    '- [fact] one',
    '- [fact] two',
    '- [idea] two',
    '- uses [[X]]',
    '- [fact] one #tag',
    '# Head',
    'text one',
    'é',
  )
  const body = fc.array(line, { maxLength: 6 }).map((lines) => lines.join('\n'))
  const metadata = fc.constantFrom('{}', '{"tags":["one"]}', '{"status":"open"}')
  const change = fc.record({ id: fc.constantFrom(1, 2), body, metadata, isRead: fc.boolean() })
  const options = { clock: new SystemClock(), log: silentLogger() }
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      const dataDir = tempDir()
      const db = (await openDatabase({ dataDir, ...options })) as SqliteDatabase
      await migrate(db, options)
      const notes = await IndexedNotes.open(db)
      const files = [join(dataDir, 'kept.db'), join(dataDir, 'new.db')] as const
      const kept = indexerOf(db, files[0], false)
      for (const id of [1, 2]) await notes.add(id, `Title${id}`)
      for (const { id, body: text, metadata: front, isRead } of changes) {
        await notes.rewrite(id, text, front)
        if (isRead) kept.indexSome(ALL)
      }
      kept.indexSome(ALL)
      const made = indexerOf(db, files[1], true)
      while (!made.isWhole) made.indexSome(ALL)
      for (const indexer of [kept, made]) indexer.close()
      await db.close()
      assert.deepEqual(contentsOf(files[0]), contentsOf(files[1]))
    }),
    { numRuns: 40 },
  )
})
