import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastChange } from '../../src/knowledge/history/store-changes.ts'
import { chunksNow } from '../../src/knowledge/search/meaning/chunks-now.ts'
import type { NearChunk } from '../../src/knowledge/semantic/search/near-chunk.ts'
import { placeOf } from '../../src/knowledge/semantic/search/open-vector-search.ts'
import { ThreadVectorSearch } from '../../src/knowledge/semantic/search/thread-vector-search.ts'
import { syncedSeq } from '../../src/knowledge/semantic/sync/store-changed-since.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { createNote, openNotes, RunningSync } from './semantic-world.ts'

const COFFEE = '- [fact] coffee beans are roasted (in drums)\n'
const ROCKETS = `- [fact] ${'rockets fly to the moon '.repeat(60)}\n`
const LINKS = '- made_by [[Roaster]] (of old)\n- drunk_in [[Café|the café]]\n'

eachDatabase('parts of a note that are near in meaning', ({ open }) => {
  for (const follows of [false, true]) {
    const when = follows
      ? 'when vectors followed a change after they were asked'
      : 'while vectors have not followed a change'
    test(`are shown where they stand, also ${when}`, async () => {
      const world = await openNotes(await open())
      const { db } = world.deps
      const { external_id: noteId } = await createNote(world, 'Breakfast', `${COFFEE}${ROCKETS}${LINKS}`)
      await using running = new RunningSync(db)
      await running.sync.caughtUp(world.project.id)
      const modelId = await running.embeddings.modelId()
      if (!follows) await running.stop()
      const key = { projectId: world.project.id, modelId }
      const since = await syncedSeq(db, key)
      assert.equal(since, await lastChange(db, key.projectId))
      const all = await everyChunk(db, key)
      const texts = all.filter(({ kind }) => kind === 'note')
      const [, rockets, roaster, cafe] = all.slice(texts.length) as [NearChunk, NearChunk, NearChunk, NearChunk]
      const now = async () => {
        if (follows) await running.sync.caughtUp(key.projectId)
        return chunksNow(db, key.projectId, since, all)
      }
      const edit = (operation: object) =>
        world.notes.edit(world.writer, { projectId: world.projectId, noteId }, operation as never, {})
      const replace = (from: string, content: string) =>
        edit({ operation: 'find_replace', find_text: from, content, expected_replacements: 1 })

      assert.equal(await now(), all, 'nothing is looked for where nothing changed')
      await edit({ operation: 'append', content: 'More.' })
      assert.deepEqual(await now(), all)
      await edit({ operation: 'prepend', content: '- [new] tea\n- hates [[Tea]]' })
      const moved = all.map((part) => (part.kind === 'note' ? part : { ...part, position: part.position + 1 }))
      assert.deepEqual(await now(), moved)
      await replace('- [new] tea\n- hates [[Tea]]\n', '')
      await replace(COFFEE, '')
      assert.deepEqual(await now(), [...texts, { ...rockets, position: 0 }, roaster, cafe])
      await replace('drunk_in', 'sold_in')
      assert.deepEqual(await now(), [...texts, { ...rockets, position: 0 }, roaster])
    })
  }
})

/** All that a project has vectors of, by kind and place. */
async function everyChunk(db: Parameters<typeof placeOf>[0], key: { projectId: number; modelId: number }) {
  const clock = new SystemClock()
  await using vectors = new ThreadVectorSearch({ place: placeOf(db), maxBytes: 1_000_000, clock, log: silentLogger() })
  const kinds = ['note', 'observation', 'relation']
  const chunks = await vectors.nearest({ ...key, vector: new Float32Array(256).fill(1 / 16), k: 100 })
  return chunks.sort(
    (one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind) || one.position - other.position,
  )
}
