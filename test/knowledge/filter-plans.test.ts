import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { allRowsOf } from '../../src/knowledge/search/index/store-search-index.ts'
import { eachDatabase } from '../support/each-database.ts'
import { planOf, watchedReader } from './watched-reader.ts'

const NOTES = 3_000

eachDatabase('a search with filters alone', ({ open, engine }) => {
  test('reads the rows of the notes that it shows, and compares no others with them', async () => {
    const db = await open()
    if (engine === 'sqlite') return
    await sql`insert into note_search (id, document)
      select note::bigint * 4194304 + kind, to_tsvector('simple', 'word') from generate_series(1, ${sql.lit(NOTES)}) note, generate_series(0, 9) kind`.execute(
      db.query,
    )
    await sql`analyze note_search`.execute(db.query)
    const { reader, statements } = watchedReader(db)
    const noteIds = Array.from({ length: 100 }, (_, n) => NOTES - n)
    assert.equal((await allRowsOf(reader, noteIds)).length, 10 * noteIds.length)
    const [seen] = statements
    assert.ok(seen)
    const plan = await planOf(db, seen)
    assert.match(plan, /Index Cond: \(\(id >= /)
    assert.doesNotMatch(plan, /Join Filter/)
  })
})
