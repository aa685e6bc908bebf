import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RevisionService } from '../../src/knowledge/history/revision-service.ts'
import { TrashService } from '../../src/knowledge/history/trash-service.ts'
import { MoveService } from '../../src/knowledge/move/move-service.ts'
import { parseStoredYaml } from '../../src/knowledge/text/frontmatter/frontmatter.ts'
import { eachDatabase } from '../support/each-database.ts'
import type { NotesWorld } from './notes-world.ts'
import { createNote, openNotes } from './semantic-world.ts'

const keys = (value: string, count: number) => Array.from({ length: count }, (_, at) => `key${at}: ${value}\n`).join('')

/** What is refused today, and was not always. */
const REFUSED = {
  'more pieces': keys('1', 5_500),
  'longer aliases': `long: &text "${'words '.repeat(5_000)}"\n${keys('*text', 50)}`,
}

eachDatabase('frontmatter that was stored before it was bounded', ({ open }) => {
  for (const [what, yaml] of Object.entries(REFUSED)) {
    test(`${what} than are allowed today: the note is replaced, edited, moved and restored like others`, async () => {
      const world = await openNotes(await open())
      const { notes, writer, projectId, deps } = world
      await assert.rejects(createNote(world, 'New', `---\n${yaml}---\n\nbody`), { code: 'invalid_argument' })
      const { external_id: noteId } = await createNote(world, 'Old', 'first')
      const place = { projectId, noteId }
      const head = await storeBehind(world, noteId, yaml)
      const content = async () =>
        (await deps.db.query.selectFrom('note_contents').select('content').executeTakeFirstOrThrow()).content

      const input = { title: 'Old', directory: '', content: 'second', noteType: null, metadata: null }
      await notes.replace(writer, place, input, {})
      assert.equal(await content(), `${head}second`)
      const more = { ...input, metadata: { status: 'done' } }
      await notes.replace(writer, place, more, {})
      assert.equal(await content(), `${head.replace(/---\n\n$/, 'status: done\n---\n\n')}second`)
      const edit = { operation: 'find_replace', find_text: 'status: done\n', content: '', metadata: { key0: 2 } }
      await notes.edit(writer, place, edit as never, {})
      assert.equal(await content(), `${head.replace(/key0: .*/, 'key0: 2')}second`)
      await new MoveService(deps).move(writer, place, { destinationPath: 'far/Old.md' } as never, {})
      await new RevisionService(deps).restore(writer, place, 1, {})
      assert.equal(await content(), `${head}first`)

      await notes.delete(writer, place, {})
      await createNote(world, 'Old', 'another with that permalink')
      const restored = await new TrashService(deps).restore(writer, place)
      assert.equal(restored.permalink, 'semantic/old-1')
      assert.equal(Object.keys(restored.entity_metadata ?? {}).length > 50, true)
    })
  }
})

/** As an earlier version of the program left it. Answers with all that stands before the body. */
async function storeBehind({ deps: { db } }: NotesWorld, externalId: string, yaml: string): Promise<string> {
  return db.write(async (tx) => {
    const { id } = await tx.query
      .selectFrom('notes')
      .select('id')
      .where('external_id', '=', externalId)
      .executeTakeFirstOrThrow()
    const { content } = await tx.query.selectFrom('note_contents').select('content').executeTakeFirstOrThrow()
    const whole = content.replace(/\n---\n/, `\n${yaml}---\n`)
    await tx.query.updateTable('note_contents').set({ content: whole }).where('note_id', '=', id).execute()
    const head = whole.slice(0, -'first'.length)
    const metadata = JSON.stringify(parseStoredYaml(head.slice('---\n'.length, -'---\n\n'.length)))
    await tx.query.updateTable('notes').set({ metadata }).where('id', '=', id).execute()
    return head
  })
}
