import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chunkPlaces } from '../../src/knowledge/search/answer/chunk-places.ts'
import { inspectChunks } from '../../src/knowledge/search/inspect/inspect-chunks.ts'
import { eachDatabase } from '../support/each-database.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { createNote, openNotes, RunningSync } from './semantic-world.ts'

eachDatabase('the passages of a note that were found', ({ open }) => {
  test('are those that were embedded, also while vectors have not followed a change of the note', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    const passages = ['cars', 'boats', 'planes'].map((word) => `## About ${word}\n\n${`${word} `.repeat(110).trim()}`)
    const { external_id: noteId } = await createNote(world, 'Long', passages.join('\n\n'))
    await using running = new RunningSync(db)
    await running.sync.caughtUp(world.project.id)
    const modelId = await running.embeddings.modelId()
    await running.stop()
    const { id } = await db.query.selectFrom('notes').select('id').executeTakeFirstOrThrow()
    const placesNow = async () => (await chunkPlaces(db, world.project.id, modelId, [id])).get(id) ?? new Map()
    const embedded = [...(await placesNow()).keys()]
    const shown = async () => {
      const { content } = await db.query.selectFrom('note_contents').select('content').executeTakeFirstOrThrow()
      const places = await placesNow()
      const found = embedded.filter((hash) => places.has(hash)).map((hash) => places.get(hash))
      return new Set(found.map(({ start, end }) => content.slice(start, end).trim()))
    }
    assert.deepEqual(await shown(), new Set(passages))
    const place = { projectId: world.projectId, noteId }
    await world.notes.edit(world.writer, place, { operation: 'prepend', content: 'new '.repeat(300) } as never, {})
    assert.deepEqual(await shown(), new Set(passages))
    const edit = { operation: 'find_replace', find_text: 'About boats', content: 'On ships', expected_replacements: 1 }
    await world.notes.edit(world.writer, place, edit as never, {})
    assert.deepEqual(await shown(), new Set([passages[0], passages[2]]))
  })

  test('are looked for in a long text while others have their turn', async () => {
    const world = await openNotes(await open())
    const { db } = world.deps
    await createNote(world, 'Long', 'short')
    await using running = new RunningSync(db)
    await running.sync.caughtUp(world.project.id)
    const modelId = await running.embeddings.modelId()
    await running.stop()
    const note = await db.query.selectFrom('notes').selectAll().executeTakeFirstOrThrow()
    const place = { projectId: world.projectId, noteId: note.external_id }
    const content = Array.from({ length: 5_000 }, (_, n) => `- word ${n}\n`).join('')
    await world.notes.edit(world.writer, place, { operation: 'append', content } as never, {})
    const finding = chunkPlaces(db, world.project.id, modelId, [note.id])
    assert.ok((await turnsDuring(finding)) >= 5)
    const inspecting = inspectChunks(db, running.embeddings, world.project, note)
    assert.ok((await turnsDuring(inspecting)) >= 5)
    assert.equal((await finding).get(note.id)?.size, (await inspecting).chunks.length)
  })
})
