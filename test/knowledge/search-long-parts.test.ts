import assert from 'node:assert/strict'
import { test } from 'node:test'
import { searchResults } from '../../src/knowledge/search/answer/search-results.ts'
import type { Hit } from '../../src/knowledge/search/hit.ts'
import { textsOf } from '../../src/knowledge/search/rank-hits.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { createNote, openNotes } from './semantic-world.ts'
import { watchedReader } from './watched-reader.ts'

eachDatabase('long observations that were found', ({ open }) => {
  test('are held one at a time, and short ones together', async () => {
    const db = await open()
    const { project, hits, permalinks } = await found(db, [10, 10, 600_000, 600_000])
    const { reader, statements } = watchedReader(db)
    const options = { question: null, isByMeaning: false, chunkPlaces: async () => new Map() }
    const results = await searchResults(reader, project, hits, options)
    const asked = statements.filter(({ sql }) => sql.includes('observations'))
    assert.deepEqual(
      asked.map(({ parameters }) => JSON.parse(parameters[0] as string).length),
      [3, 1],
    )
    assert.deepEqual(
      results.map(({ permalink }) => permalink),
      permalinks,
    )
  })

  test('are put in order by their beginnings and what stands around the words', async () => {
    const db = await open()
    const { project, hits } = await found(db, [100_000, 300_000])
    const texts = [...(await textsOf(db, project, hits, { question: 'penguin' })).values()].map(({ text }) => text)
    assert.deepEqual(
      texts.map((text) => [text?.startsWith('log walrus'), text?.includes('penguin'), (text?.length ?? 0) < 20_100]),
      [
        [true, true, true],
        [true, false, true],
      ],
    )
  })

  /** Notes with an observation of about so many characters each. */
  async function found(db: Database, lengths: readonly number[]) {
    const one = await openNotes(db, 'one')
    const notes = []
    for (const [at, length] of lengths.entries()) {
      notes.push(await createNote(one, `N${at}`, `- [log] walrus ${'x '.repeat(length / 2)}penguin\n`))
    }
    const ids = await db.query.selectFrom('notes').select(['id', 'external_id']).execute()
    const idOf = new Map(ids.map(({ id, external_id }) => [external_id, id]))
    const hits = notes.map(({ external_id: id }): Hit => {
      return { noteId: idOf.get(id) as number, kind: 'observation', position: 0, score: 1, chunks: [] }
    })
    return { project: one.project, hits, permalinks: notes.map(({ observations }) => observations[0]?.permalink) }
  }
})
