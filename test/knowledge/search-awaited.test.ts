import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SearchInput } from '../../src/knowledge/search/schema-search.ts'
import { readSearch } from '../../src/knowledge/search/search-request.ts'
import { SearchService } from '../../src/knowledge/search/search-service.ts'
import { placeOf } from '../../src/knowledge/semantic/search/open-vector-search.ts'
import { ThreadVectorSearch } from '../../src/knowledge/semantic/search/thread-vector-search.ts'
import { eachDatabase } from '../support/each-database.ts'
import { runningIndex } from '../support/running-index.ts'
import { createNote, openNotes, RunningSync, semanticOf } from './semantic-world.ts'

const SETTINGS = { vector_k: 100, hybrid_fusion: 'weighted', graph_expansion: false } as never
const ASKED: SearchInput = { text: 'fix the leaking kitchen tap', entity_types: ['entity'], retrieval_mode: 'hybrid' }
const OLDER = 'The kitchen tap is leaking.'
const NEWER =
  'We had to fix it. The kitchen floor was wet. It was leaking all night. The plumber charged 80 for the tap.'
const OTHERS = [
  'The coffee machine is in the kitchen.',
  'A plant that sticks to trousers.',
  'The tax return of a year.',
]

eachDatabase('a note that has no vectors yet', ({ open }) => {
  test('comes by hybrid before an older one with fewer of the words, as it does when it has them', async () => {
    const db = await open()
    const world = await openNotes(db)
    // It begins only when somebody asks for it.
    await using running = new RunningSync(db, { index_delay_ms: 3_600_000 })
    const { clock, log } = world.deps
    await using vectors = new ThreadVectorSearch({ place: placeOf(db), maxBytes: 1_000_000, clock, log })
    const semantic = semanticOf(running, vectors)
    const searchIndex = await runningIndex(db)
    const service = new SearchService({ db, clock, log, settings: SETTINGS, searchIndex, semantic })
    const found = async () => {
      const page = { limit: 10, offset: 0 }
      const { results } = await service.search(world.project, readSearch(ASKED, clock.now()), page)
      return results.map(({ title }) => title)
    }
    await createNote(world, 'Older', OLDER)
    for (const [number, text] of OTHERS.entries()) await createNote(world, `Other ${number}`, text)
    await running.sync.settled()
    await createNote(world, 'Newer', NEWER)
    assert.deepEqual((await found()).slice(0, 2), ['Newer', 'Older'])
    await running.sync.caughtUp(world.project.id)
    assert.deepEqual((await found()).slice(0, 2), ['Newer', 'Older'])
  })
})
