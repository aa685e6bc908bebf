import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PromptService } from '../../src/knowledge/prompt/prompt-service.ts'
import type { SearchIndex } from '../../src/knowledge/search/index/search-index.ts'
import type { SearchInput } from '../../src/knowledge/search/schema-search.ts'
import { readSearch } from '../../src/knowledge/search/search-request.ts'
import { SearchService } from '../../src/knowledge/search/search-service.ts'
import { placeOf } from '../../src/knowledge/semantic/search/open-vector-search.ts'
import { ThreadVectorSearch } from '../../src/knowledge/semantic/search/thread-vector-search.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { runningIndex } from '../support/running-index.ts'
import { createNote, openNotes, RunningSync, semanticOf } from './semantic-world.ts'

const ROASTED = 'coffee beans are roasted'
const BURNT = '- [fact] coffee beans are roasted and burnt\n'
const TEXT = 'roasted coffee NOT burnt'
const PAGE = { limit: 10, offset: 0 }
const SETTINGS = { default_search_type: 'fts', vector_k: 100, hybrid_fusion: 'weighted', graph_expansion: false }
/** Before which snapshot of a search something changes: it has this many. */
const SNAPSHOTS = { fts: [1], vector: [1, 2, 3], hybrid: [1, 2, 3, 4] }

eachDatabase('a note that changes while it is searched', ({ open }) => {
  for (const retrieval_mode of ['fts', 'vector', 'hybrid'] as const) {
    for (const snapshot of SNAPSHOTS[retrieval_mode]) {
      test(`is shown only as it was asked for (${retrieval_mode}, changed before snapshot ${snapshot})`, async () => {
        await using searched = await openSearched(await open(), snapshot)
        const { world, service, clock } = searched
        const input: SearchInput = { text: TEXT, entity_types: ['observation'], min_similarity: 0, retrieval_mode }
        const { results, isDegraded } = await service.search(world.project, readSearch(input, clock.now()), PAGE)
        assert.equal(searched.changes, 2)
        assert.deepEqual(
          { contents: results.map(({ content }) => content), isDegraded },
          { contents: [ROASTED], isDegraded: false },
        )
      })
    }
  }

  test('is told in a prompt only as it was asked for', async () => {
    await using searched = await openSearched(await open(), 1)
    const { world, service } = searched
    const deps = { ...world.deps, settings: SETTINGS as never, baseUrl: () => 'http://localhost' }
    const prompts = new PromptService(deps, service)
    const asked = { projectId: world.projectId, timeframe: null, limit: 10, depth: 1, maxRelated: 10 }
    const prompt = await prompts.write({ ...asked, purpose: 'search', topic: TEXT })
    assert.equal(searched.changes, 2)
    assert.deepEqual([prompt.searchCount, prompt.results], [0, []])
  })
})

/** A note that changes twice in a search: something else stands where its observation stood, and is what is not wanted. */
async function openSearched(plain: Database, snapshot: number) {
  const world = await openNotes(plain)
  const { db, log } = world.deps
  const clock = new PatientClock()
  const { external_id: noteId } = await createNote(world, 'Breakfast', `- [fact] ${ROASTED}\n`)
  const running = new RunningSync(db)
  await running.sync.caughtUp(world.project.id)
  const vectors = new ThreadVectorSearch({ place: placeOf(db), maxBytes: 1_000_000, clock, log })
  const change = async () => {
    searched.changes++
    const edit = { operation: 'prepend', content: BURNT } as never
    await world.notes.edit(world.writer, { projectId: world.projectId, noteId }, edit, {})
  }
  const service = new SearchService({
    db: changingBefore(db, snapshot, change),
    clock,
    log,
    settings: SETTINGS as never,
    searchIndex: changingOnce(await runningIndex(db), change),
    semantic: semanticOf(running, vectors),
  })
  const searched = {
    world,
    clock,
    service,
    changes: 0,
    async [Symbol.asyncDispose]() {
      await vectors[Symbol.asyncDispose]()
      await running[Symbol.asyncDispose]()
    },
  }
  return searched
}

/** No search takes too long to be repeated, however busy the machine is. */
class PatientClock extends SystemClock {
  override elapsedMs(): number {
    return 0
  }
}

/** Somebody changes something when the index was asked whether it has everything. */
function changingOnce(index: SearchIndex, change: () => Promise<void>): SearchIndex {
  let isFirst = true
  const changeOnce = async () => {
    if (!isFirst) return
    isFirst = false
    await change()
  }
  return {
    name: index.name,
    run: (signal) => index.run(signal),
    caughtUp: (project) => index.caughtUp(project).then(changeOnce),
    async catchUp(project) {
      const caughtUp = await index.catchUp(project)
      await changeOnce()
      return caughtUp
    },
    isCurrent: (project) => index.isCurrent(project),
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
