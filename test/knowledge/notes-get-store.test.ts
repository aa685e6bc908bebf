import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'
import { openWorld } from './notes-world.ts'

const NOBODY = '018f0000-0000-7000-8000-000000000000'

eachDatabase('a note that is asked for by two ids', ({ open }) => {
  test('is read whole, whatever the spelling of the ids', async () => {
    const { notes, projectId, noteId } = await start()
    const place = { projectId: projectId.toUpperCase(), noteId: noteId.replaceAll('-', '') }
    const { body } = await notes.get(place)
    const { title, content, observations, relations } = JSON.parse(body.toString())
    assert.equal(title, 'A')
    assert.match(content, /- \[fact\] one/)
    assert.equal(observations[0].content, 'one')
    assert.equal(relations[0].to_external_id, noteId)
  })

  test('is missing where the note is, and its project where that is', async () => {
    const { db, operator, notes, projectId, noteId } = await start()
    const other = await openWorld(db, operator, 'other')
    for (const place of [
      { projectId, noteId: NOBODY },
      { projectId, noteId: 'A' },
      { projectId: other.projectId, noteId },
    ]) {
      await assert.rejects(notes.get(place), { message: `Entity with external_id '${place.noteId}' not found` })
    }
    for (const place of [
      { projectId: NOBODY, noteId },
      { projectId: 'asked', noteId },
      { projectId: NOBODY, noteId: NOBODY },
    ]) {
      await assert.rejects(notes.get(place), { message: /^Project not found/ })
    }
  })

  test('is missing with its project when that is deleted, though its rows are still there', async () => {
    const { db, notes, projectId, noteId } = await start()
    await db.write((tx) => tx.query.updateTable('projects').set({ deleted_at: 1 }).execute())
    await assert.rejects(notes.get({ projectId, noteId }), { message: /^Project not found/ })
  })

  test('has long types, contexts and display texts of relations to it in part, of its own whole', async () => {
    const { notes, writer, projectId } = await start()
    const long = '😀'.repeat(3_000)
    const create = (title: string, content: string) =>
      notes.create(writer, projectId, { title, directory: '', content, noteType: null, metadata: null })
    const from = await create('From', `- ${long} [[To|${long}]] (${long})\n`)
    const { external_id: noteId, relations: written } = await create('To', '')
    const { body } = await notes.get({ projectId, noteId })
    for (const [relation] of [written, JSON.parse(body.toString()).relations]) {
      assert.equal(relation.relation_type, '😀'.repeat(2_000))
      assert.equal(relation.context, '😀'.repeat(2_000))
      assert.equal(relation.display, '😀'.repeat(2_000))
    }
    assert.equal(from.relations[0]?.relation_type, long)
    const own = JSON.parse((await notes.get({ projectId, noteId: from.external_id })).body.toString())
    const { relation_type: type, context, display } = own.relations[0]
    assert.deepEqual([type, context, display], [long, long, long])
  })

  async function start() {
    const db = await open()
    const { operator } = await installed(db)
    const { notes, writer, projectId } = await openWorld(db, operator, 'asked')
    const content = '- [fact] one\n- like [[A]]\n'
    const input = { title: 'A', directory: '', content, noteType: null, metadata: null }
    const { external_id: noteId } = await notes.create(writer, projectId, input)
    return { db, operator, notes, writer, projectId, noteId }
  }
})
