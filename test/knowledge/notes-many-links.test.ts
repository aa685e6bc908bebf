import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MOST_OUTGOING } from '../../src/knowledge/link/store-relations.ts'
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
      // By two names, and one of a type that was there before.
      const link = (n: number) => `- type${n % (count - 1)} [[${n < count / 3 ? 'many/' : ''}Target]]`
      await make('Source', Array.from({ length: count }, (_, n) => link(n)).join('\n'))
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

eachDatabase('a note with very many links', ({ open }) => {
  test('keeps all of them, shows the first and says so', async () => {
    const db = await open()
    const { operator } = await installed(db)
    const world = await openWorld(db, operator, 'many')
    const { notes, writer, projectId } = world
    const content = Array.from({ length: MOST_OUTGOING + 1 }, (_, n) => `[[n${n}]]`).join(' ')
    const made = await notes.create(writer, projectId, {
      title: 'Source',
      directory: '',
      content,
      noteType: null,
      metadata: null,
    })
    const place = { projectId, noteId: made.external_id }
    const names = async () =>
      (await db.query.selectFrom('relations').select('to_name').orderBy('position').execute()).map((row) => row.to_name)
    const all = Array.from({ length: MOST_OUTGOING + 1 }, (_, n) => `n${n}`)
    const edit = (content: string, more: object) =>
      notes.edit(writer, place, { operation: 'append', content, ...more } as Parameters<typeof notes.edit>[2], {})
    const read = async () => JSON.parse((await notes.get(place)).body.toString())
    for (const document of [made, await read(), await edit(' [[last]]', {}), await read()]) {
      assert.equal(document.relations.length, MOST_OUTGOING)
      assert.equal(document.relations.at(-1).to_name, all[MOST_OUTGOING - 1])
      assert.equal(document.relations_truncated, true)
    }
    assert.deepEqual(await names(), [...all, 'last'])
    const shorter = await edit('', { operation: 'find_replace', find_text: content.slice(5_000), content: '[[new]]' })
    assert.equal(shorter.relations_truncated, undefined)
    assert.deepEqual(
      shorter.relations.map(({ to_name }) => to_name),
      await names(),
    )
    await edit('', { operation: 'find_replace', find_text: '[[n0]]', content: content.slice(0, 50_000) })
    await assertConsistent(world)
    await notes.delete(writer, place, {})
    assert.deepEqual(await names(), [])
  })
})
