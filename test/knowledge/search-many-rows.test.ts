import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteTally } from '../../src/knowledge/project/note-tally.ts'
import { findRows } from '../../src/knowledge/search/find/find-rows.ts'
import { parseQuestion } from '../../src/knowledge/search/question/question.ts'
import { addToTally } from '../../src/platform/tally/store.ts'
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
    const page = (offset: number) =>
      findRows(db, notes.project, { main: { mode: 'none' }, filters: { after: 0 }, page: { limit: 10, offset } })
    const first = await page(0)
    assert.deepEqual([first.rows.length, first.rows[0]?.kind], [10, 'note'])
    assert.deepEqual((await page(99_999_990)).rows, [])
  })
})

eachDatabase('a word that very many notes have', ({ open }) => {
  test('finds longer words that begin so beside one that few notes have, and not by itself', async () => {
    const db = await open()
    const index = await runningIndex(db)
    const notes = await IndexedNotes.open(db)
    await notes.add(1, 'The one', 'our zebra database')
    const ends =
      'base bases set sets center gram frame store type log dog source sheet path class point flow model'.split(' ')
    // Their numbers, and the count of notes, are those of many more.
    for (let id = 0; id < 120; id++) await notes.add(9_000 + id, `N ${id}`, `data data${ends[id % ends.length]} filler`)
    await db.write((tx) => addToTally(tx, noteTally(notes.project.id), 9_000))
    await index.caughtUp()
    const found = async (text: string) => {
      const main = { mode: 'text', question: parseQuestion(text) } as const
      const { rows, total, isExact } = await findRows(db, notes.project, {
        main,
        filters: {},
        page: { limit: 1, offset: 0 },
      })
      return [rows[0]?.noteId, total, isExact]
    }
    assert.deepEqual(await found('data zebra'), [1, 1, true])
    assert.deepEqual(await found('data "zebra database"'), [1, 1, true])
    assert.deepEqual((await found('data')).slice(1), [120, false])
    assert.deepEqual((await found('data filler')).slice(1), [120, false])
  })
})
