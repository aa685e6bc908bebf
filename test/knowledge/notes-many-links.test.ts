import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WAITING_AT_ONCE } from '../../src/knowledge/link/store-waiting-relations.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'
import { assertConsistent } from './notes-consistency.ts'
import { openWorld } from './notes-world.ts'

eachDatabase('a note that very many links lead to', ({ open }) => {
  for (const count of [WAITING_AT_ONCE - 1, WAITING_AT_ONCE, WAITING_AT_ONCE + 1]) {
    test(`loses and finds all ${count} of them`, async () => {
      const db = await open()
      const { operator } = await installed(db)
      const world = await openWorld(db, operator, 'many')
      const { notes, writer, projectId } = world
      const make = (title: string, content = '') =>
        notes.create(writer, projectId, { title, directory: '', content, noteType: null, metadata: null })
      await make('Source', Array.from({ length: count }, (_, n) => `- type${n} [[Target]]`).join('\n'))
      const bound = async (id: number) =>
        (await db.query.selectFrom('relations').select('position').where('to_id', '=', id).execute()).length
      const target = await make('Target')
      assert.equal(await bound(target.id), count)
      await notes.delete(writer, { projectId, noteId: target.external_id }, {})
      assert.equal(await bound(target.id), 0)
      assert.equal(await bound((await make('Target')).id), count)
      await assertConsistent(world)
    })
  }
})
