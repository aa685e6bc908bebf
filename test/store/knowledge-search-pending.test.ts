import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { findRows } from '../../src/knowledge/search/find/find-rows.ts'
import { parseQuestion } from '../../src/knowledge/search/question/question.ts'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type Draft, SearchedNotes } from './knowledge-search-notes.ts'

const ROUNDS = 8
const NOTES = 6
const PARTS = Array.from({ length: 200 }, (_, at) => `- [fact] shared word${at}\n`).join('')
const TAGS = ['zebra', ...Array.from({ length: 40 }, (_, at) => `tag${at}`)]

eachDatabase('what must not be there', (context) => {
  test('is missed by no search while new rows become part of the index', async () => {
    const db = await context.open()
    const other = db.engine === 'postgres' ? await context.openAgain(db) : db
    const notes = await SearchedNotes.open(db)
    const found: unknown[] = []
    const look = async (reader: Reader) => {
      const tagged = await findRows(reader, notes.project, {
        main: { mode: 'none' },
        filters: { withoutTags: [['zebra']] },
        page: PAGE,
      })
      const question = parseQuestion('shared NOT zebra')
      const said = await findRows(reader, notes.project, { main: { mode: 'text', question }, filters: {}, page: PAGE })
      found.push(...tagged.rows, ...said.rows)
    }
    for (let round = 0; round < ROUNDS; round++) {
      await notes.add(Array.from({ length: NOTES }, (_, at) => draft(round * NOTES + at + 1)))
      let isOver = false
      const merged = mergePending(db).finally(() => {
        isOver = true
      })
      do await throughIndex(other, look)
      while (!isOver)
      await merged
    }
    assert.deepEqual(found, [])
  })
})

const PAGE = { limit: 10, offset: 0 }

function draft(id: number): Draft {
  return { id, title: `Zebra ${id}`, body: PARTS.replaceAll('shared', 'shared zebra'), metadata: { tags: TAGS } }
}

/** PostgreSQL collects new rows beside its index, and adds them later, one word after the other. */
async function mergePending(db: Database): Promise<void> {
  if (db.engine === 'postgres') await sql`select gin_clean_pending_list('note_search_words')`.execute(db.query)
}

/** However few rows there are. */
function throughIndex(db: Database, look: (reader: Reader) => Promise<void>): Promise<void> {
  if (db.engine === 'sqlite') return look(db)
  return db.write(async (tx) => {
    for (const way of ['seqscan', 'indexscan', 'indexonlyscan']) {
      await sql.raw(`set local enable_${way} = off`).execute(tx.query)
    }
    await look(tx)
  })
}
