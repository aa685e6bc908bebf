import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRows } from '../../src/knowledge/search/find/find-rows.ts'
import { eachDatabase } from '../support/each-database.ts'
import { runningIndex } from '../support/running-index.ts'
import { IndexedNotes } from './indexed-notes.ts'

eachDatabase('filters without words', ({ open }) => {
  test('are answered where notes have more rows than a call has room for arguments', async () => {
    const db = await open()
    const index = await runningIndex(db)
    const notes = await IndexedNotes.open(db)
    const list = (length: number) => Array.from({ length }, (_, at) => `- [a] b${at}\n`).join('')
    for (let id = 1; id <= 3; id++) await notes.add(id, `List ${id}`, list(45_000))
    await index.caughtUp()
    const page = (offset: number) => findRows(db, notes.project, { mode: 'none' }, { after: 0 }, { limit: 10, offset })
    const first = await page(0)
    assert.deepEqual([first.rows.length, first.rows[0]?.kind], [10, 'note'])
    assert.deepEqual((await page(99_999_990)).rows, [])
  })
})
