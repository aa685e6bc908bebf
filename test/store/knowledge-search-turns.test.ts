import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchResults } from '../../src/knowledge/search/answer/search-results.ts'
import { findByTitle } from '../../src/knowledge/search/find/find-by-title.ts'
import { filterNotes } from '../../src/knowledge/search/find/find-rows.ts'
import { notesInTurns } from '../../src/knowledge/search/find/notes-in-turns.ts'
import type { Hit } from '../../src/knowledge/search/hit.ts'
import { exactExpression } from '../../src/knowledge/search/index/match-expression.ts'
import { matchingRowsOf } from '../../src/knowledge/search/index/store-search-index.ts'
import { parseQuestion } from '../../src/knowledge/search/question/question.ts'
import { textsOf } from '../../src/knowledge/search/rank-hits.ts'
import { rowNumber } from '../../src/knowledge/search/row-number.ts'
import { eachDatabase } from '../support/each-database.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { SearchedNotes } from './knowledge-search-notes.ts'

function hitOf(noteId: number): Hit {
  return { noteId, kind: 'note', position: 0, score: 1, chunks: [] }
}

eachDatabase('others have their turn', ({ open }) => {
  async function filled(count: number, body = ''): Promise<SearchedNotes> {
    const notes = await SearchedNotes.open(await open())
    await notes.add(Array.from({ length: count }, (_, n) => ({ id: 1 + n, title: `Note ${n}`, body })))
    return notes
  }

  test('while long texts are looked into for what is shown of them, and for their order', async () => {
    const { db, project } = await filled(12, `${'word '.repeat(5_000)}zebra`)
    const hits = Array.from({ length: 12 }, (_, n) => hitOf(1 + n))
    const options = { question: parseQuestion('zebra'), isByMeaning: false, chunkPlaces: async () => new Map() }
    const showing = searchResults(db, project, hits, options)
    assert.ok((await turnsDuring(showing)) >= 10)
    for (const { snippets } of await showing) assert.match(snippets[0]?.text ?? '', /zebra$/)
    const reading = textsOf(db, project, hits, { question: 'zebra', longest: 1_000 })
    assert.ok((await turnsDuring(reading)) >= 10)
    for (const { text } of (await reading).values()) assert.match(text, /zebra$/)
  })

  test('while titles are compared', async () => {
    const { db, project } = await filled(450)
    const finding = findByTitle(db, project, { text: 'notes', filters: {}, wanted: 1_000 })
    assert.ok((await turnsDuring(finding)) >= 2)
    assert.equal((await finding).total, 450)
  })

  test('while it is looked which of many notes have what was asked', async () => {
    const { db, project } = await filled(50, 'coffee')
    const ids = Array.from({ length: 50 }, (_, n) => 1 + ((n * 7) % 50))
    const scope = { projectId: project.id, isOnlyProject: false, scope: [] }
    const expression = exactExpression(db.engine, scope, 'coffee')
    const looking = matchingRowsOf(db, expression, ids)
    const turns = await turnsDuring(looking)
    // PostgreSQL looks while others go on.
    if (db.engine === 'sqlite') assert.ok(turns >= 5)
    const newestFirst = Array.from({ length: 50 }, (_, n) => rowNumber('note', 50 - n, 0))
    assert.deepEqual(await looking, newestFirst)
  })

  test('while very many notes are compared with filters', async () => {
    const { db, project } = await filled(3)
    // Most of them are gone.
    const ids = Array.from({ length: 2_500 }, (_, n) => 2_500 - n)
    const comparing = notesInTurns(db, project.id, ids, ({ id }) => id !== 2)
    assert.ok((await turnsDuring(comparing)) >= 2)
    assert.deepEqual([...(await comparing).keys()].sort(), [1, 3])
    const filtering = filterNotes(db, project, ids, { noteTypes: ['note'] })
    assert.ok((await turnsDuring(filtering)) >= 2)
    assert.deepEqual([...(await filtering)].sort(), [1, 2, 3])
  })
})
