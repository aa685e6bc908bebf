import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SearchIndex } from '../../src/knowledge/search/index/search-index.ts'
import type { SearchInput } from '../../src/knowledge/search/schema-search.ts'
import { readSearch } from '../../src/knowledge/search/search-request.ts'
import { SearchService } from '../../src/knowledge/search/search-service.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { runningIndex } from '../support/running-index.ts'
import { createNote, openNotes } from './semantic-world.ts'

const ROASTED = 'coffee beans are roasted'
const BURNT = '- [fact] coffee beans are roasted and burnt\n'
const QUESTION = { text: 'roasted coffee NOT burnt', entity_types: ['observation'] } as const
const PAGE = { limit: 10, offset: 0 }
const SETTINGS = { default_search_type: 'fts', vector_k: 100, hybrid_fusion: 'weighted', graph_expansion: false }

eachDatabase('a note that changes while it is searched by words', ({ open }) => {
  test('is shown only as it was asked for', async () => {
    const world = await openNotes(await open())
    const { db, log } = world.deps
    const clock = new PatientClock()
    const { external_id: noteId } = await createNote(world, 'Breakfast', `- [fact] ${ROASTED}\n`)
    // Each makes something else stand where the observation stood.
    let changes = 0
    const change = async () => {
      changes++
      const edit = { operation: 'prepend', content: BURNT } as never
      await world.notes.edit(world.writer, { projectId: world.projectId, noteId }, edit, {})
    }
    const service = new SearchService({
      db: changingBefore(db, 2, change),
      clock,
      log,
      settings: SETTINGS as never,
      searchIndex: changingOnce(await runningIndex(db), change),
      semantic: null,
    })
    const input: SearchInput = { ...QUESTION, entity_types: ['observation'], retrieval_mode: 'fts' }
    const { results, isDegraded } = await service.search(world.project, readSearch(input, clock.now()), PAGE)
    assert.ok(changes > 0)
    assert.deepEqual(
      { contents: results.map(({ content }) => content), isDegraded },
      { contents: [ROASTED], isDegraded: false },
    )
  })
})

/** No search takes too long to be repeated, however busy the machine is. */
class PatientClock extends SystemClock {
  override elapsedMs(): number {
    return 0
  }
}

/** Somebody changes something when the index was asked whether it has everything. */
function changingOnce(index: SearchIndex, change: () => Promise<void>): SearchIndex {
  let isFirst = true
  return {
    name: index.name,
    run: (signal) => index.run(signal),
    async caughtUp(project) {
      await index.caughtUp(project)
      if (isFirst) await change()
      isFirst = false
    },
  }
}

/** Somebody changes something just before the snapshot of this number. */
function changingBefore(db: Database, number: number, change: () => Promise<void>): Database {
  let reads = 0
  const read: Database['read'] = async (work) => {
    if (++reads === number) await change()
    return db.read(work)
  }
  return new Proxy(db, {
    get(target, name) {
      if (name === 'read') return read
      const member = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}
