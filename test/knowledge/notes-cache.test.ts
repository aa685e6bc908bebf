import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NoteService } from '../../src/knowledge/note/note-service.ts'
import { ProjectInside } from '../../src/knowledge/project/project-inside.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { installed } from '../support/identity.ts'
import { openWorld } from './notes-world.ts'

eachDatabase('a note that was read before', ({ engine, open, openAgain }) => {
  test('is answered without reading it again until it changes', async (t) => {
    if (engine === 'postgres') return t.skip('nothing is kept there')
    const { notes, place, deps } = await start()
    const first = await notes.get(place)
    assert.equal(await notes.get(place), await notes.get(place))
    assert.deepEqual((await notes.get(place)).body, first.body)
    await deps.db.write((tx) => tx.query.updateTable('note_contents').set({ content: 'past the service' }).execute())
    assert.deepEqual((await notes.get(place)).body, first.body)
  })

  test('is read again when it changed while it was read', async () => {
    const { notes, place, deps, writer } = await start()
    const read = deps.db.read
    deps.db.read = async (...parameters) => {
      deps.db.read = read
      const answer = await read.apply(deps.db, parameters as never)
      await notes.edit(writer, place, { operation: 'append', content: 'and more' } as never, {})
      return answer as never
    }
    await notes.get(place)
    deps.db.read = read
    assert.equal((await notes.get(place)).etag, (await new NoteService(deps).get(place)).etag)
  })

  test('is not found in another project', async () => {
    const { notes, place, deps, writer } = await start()
    await notes.get(place)
    const { projectId } = await openWorld(deps.db, writer.principal, 'another')
    await assert.rejects(notes.get({ ...place, projectId }), { code: 'not_found' })
  })

  test('is read again when a note has another name that links to it or is linked from it', async () => {
    const { notes, place, deps, writer } = await start()
    const linking = { title: 'B', directory: '', content: 'to [[A]]', noteType: null, metadata: null }
    const { external_id: linkingId } = await notes.create(writer, place.projectId, linking)
    const places = [place, { ...place, noteId: linkingId }]
    for (const changed of places) {
      for (const each of places) await notes.get(each)
      const rename = { operation: 'find_replace', find_text: 'title: ', content: 'title: New ' }
      await notes.edit(writer, changed, rename as never, {})
      for (const each of places) assert.deepEqual(await notes.get(each), await new NoteService(deps).get(each))
    }
  })

  test('is read again when the note comes that a link of it waits for', async () => {
    const { notes, place, deps, writer } = await start()
    const input = (title: string, content: string) => ({
      title,
      directory: '',
      content,
      noteType: null,
      metadata: null,
    })
    const { external_id: noteId } = await notes.create(writer, place.projectId, input('Waiting', 'for [[Later]]'))
    const waiting = { ...place, noteId }
    await notes.get(waiting)
    await notes.create(writer, place.projectId, input('Later', ''))
    assert.deepEqual(await notes.get(waiting), await new NoteService(deps).get(waiting))
  })

  test('is read again when a note with very many links has one to it', async () => {
    const { notes, place, deps, writer } = await start()
    await notes.get(place)
    const content = `${Array.from({ length: 400 }, (_, at) => `- to${at} [[B]]\n`).join('')}- to [[A]]\n`
    await notes.create(writer, place.projectId, { title: 'B', directory: '', content, noteType: null, metadata: null })
    assert.deepEqual(await notes.get(place), await new NoteService(deps).get(place))
  })

  test('is read again when another process has changed it', async () => {
    const { notes, place, deps, clock, writer } = await start()
    await notes.get(place)
    const other = await openAgain(deps.db)
    const edit = { operation: 'append', content: 'and more' }
    await new NoteService({ ...deps, db: other }).edit(writer, place, edit as never, {})
    await clock.advance(1)
    assert.match(documentOf(await notes.get(place)).content, /and more/)
  })

  for (const who of ['this process', 'another process']) {
    test(`is read again when ${who} has read its text anew`, async () => {
      const { notes, place, deps, clock, writer } = await start()
      await deps.db.write((tx) => tx.query.deleteFrom('observations').execute())
      assert.equal(documentOf(await notes.get(place)).observations.length, 0)
      const db = who === 'this process' ? deps.db : await openAgain(deps.db)
      const inside = new ProjectInside({ ...deps, db })
      await inside.index(writer.principal, { pathId: place.projectId, inBackground: false })
      await clock.advance(1)
      assert.equal(documentOf(await notes.get(place)).observations.length, 1)
    })
  }

  async function start() {
    const db = await open()
    const { operator } = await installed(db)
    const { deps, writer, projectId } = await openWorld(db, operator, 'cached')
    const clock = new FakeClock()
    const notes = new NoteService({ ...deps, clock })
    const input = { title: 'A', directory: '', content: 'text\n\n- [fact] one\n', noteType: null, metadata: null }
    const { external_id: noteId } = await notes.create(writer, projectId, input)
    return { deps: { ...deps, clock }, clock, notes, writer, place: { projectId, noteId } }
  }
})

function documentOf({ body }: { body: Buffer }) {
  return JSON.parse(body.toString()) as { content: string; observations: unknown[] }
}
