import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrashService } from '../../src/knowledge/history/trash-service.ts'
import { countCreatedNotes } from '../../src/knowledge/project/store-note-numbers.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'
import { eachServer } from './each-server.ts'
import type { NotesApi, WireNote } from './notes-api.ts'
import { openWorld } from './notes-world.ts'

eachServer('a note that comes back from the trash', (server) => {
  const resolved = async (notes: NotesApi, identifier: string, status = 200) =>
    (await notes.api.post(`${notes.base}/resolve`, status, { body: { identifier, strict: true } })).body.external_id

  /** Had three titles and two paths. */
  async function renamed(notes: NotesApi): Promise<WireNote> {
    const { external_id: id } = await notes.create({ title: 'Alpha', directory: 'x', content: 'text' })
    await notes.put(id, { title: 'Bravo', directory: 'x', content: 'text' }, 200)
    await notes.move(id, 'x/yankee.md', 200)
    await notes.put(id, { title: 'Charlie', directory: 'z', content: 'text' }, 200)
    return (await notes.move(id, 'z/zulu.md', 200)).body
  }

  const restore = async (notes: NotesApi, { external_id: id }: WireNote, body: object = {}) =>
    (await notes.api.post(`${notes.base}/trash/${id}/restore`, 200, { body })).body

  const reached = async (notes: NotesApi, { external_id: id }: WireNote) =>
    (await notes.get(id)).relations.map(({ to_external_id }) => to_external_id)

  test('is found by all names that it ever had, and reached by the links with them', async () => {
    const notes = await server().project('old names')
    const note = await renamed(notes)
    const links = ['Alpha', 'Bravo', 'x/yankee', 'old-names/x/alpha'].map((name, at) => `- r${at} [[${name}]]`)
    const linking = await notes.create({ title: 'Linking', directory: '', content: links.join('\n') })
    const near = await notes.create({ title: 'Near', directory: 'x', content: '- r [[yankee]]' })
    const all = links.map(() => note.external_id)
    assert.deepEqual(await reached(notes, linking), all)
    await notes.delete(note.external_id)
    assert.deepEqual(await reached(notes, linking), [null, null, null, null])
    await resolved(notes, 'x/yankee.md', 404)
    await restore(notes, note)
    assert.deepEqual(await reached(notes, linking), all)
    assert.deepEqual(await reached(notes, near), [note.external_id])
    for (const name of ['Bravo', 'x/yankee.md', 'Alpha']) assert.equal(await resolved(notes, name), note.external_id)
    await notes.delete(note.external_id)
    await restore(notes, note, { destination_path: 'elsewhere/november.md' })
    for (const name of ['Bravo', 'z/zulu.md']) assert.equal(await resolved(notes, name), note.external_id)
  })

  test('is reached by a permalink of its own that it had before, without the name of the project', async () => {
    const notes = await server().project('old permalinks')
    const called = (name: string) => ({ title: 'A', directory: '', content: `---\npermalink: ${name}\n---\ntext` })
    const note = await notes.create(called('old-permalinks/special'))
    await notes.put(note.external_id, called('else'), 200)
    const linking = await notes.create({ title: 'Linking', directory: '', content: '- r [[special]]' })
    await notes.delete(note.external_id)
    assert.deepEqual(await reached(notes, linking), [null])
    await restore(notes, note)
    assert.deepEqual(await reached(notes, linking), [note.external_id])
  })

  test('takes back no name that another note has by now, and no link', async () => {
    const notes = await server().project('taken names')
    const note = await renamed(notes)
    const linking = await notes.create({ title: 'Linking', directory: '', content: '- r [[Bravo]]\n- s [[x/yankee]]' })
    await notes.delete(note.external_id)
    const taker = await notes.create({ title: 'Bravo', directory: '', content: '' })
    await restore(notes, note)
    assert.deepEqual(await reached(notes, linking), [taker.external_id, note.external_id])
    assert.equal(await resolved(notes, 'Bravo'), taker.external_id)
  })
})

eachDatabase('a note that somebody else brings back', ({ open }) => {
  test('is still that of who made it, and is not counted as a new one', async () => {
    const db = await open()
    const { operator, users } = await installed(db)
    const { deps, notes, writer, projectId } = await openWorld(db, operator, 'restored')
    const input = { title: 'A', directory: '', content: '', noteType: null, metadata: null }
    const made = await notes.create(writer, projectId, input)
    const place = { projectId, noteId: made.external_id }
    await notes.delete(writer, place, {})
    const { id } = await users.create(operator, { email: `${newId()}@example.org` })
    const restored = await new TrashService(deps).restore({ principal: { ...operator, userId: id } }, place)
    assert.deepEqual([restored.created_by, restored.last_updated_by], [made.created_by, id])
    const day = made.created_at.slice(0, 10)
    assert.equal((await countCreatedNotes(db, [day])).get(day), 1)
  })
})
