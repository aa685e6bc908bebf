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
