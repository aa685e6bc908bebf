import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headOf, NotesApi } from './notes-api.ts'

const startWith = (name: string, value: string) =>
  NotesApi.start({ env: { [`COMMONPLACE_KNOWLEDGE__${name}`]: value } })

test('disable_permalinks: a note has none, in its text neither, and is named by its path', async () => {
  await using notes = await startWith('DISABLE_PERMALINKS', 'true')
  const target = await notes.create({ title: 'Target', directory: 'd' })
  const note = await notes.create({ title: 'Source', directory: 'd', content: '- [a] fact\n- uses [[Target]]' })
  assert.equal(note.permalink, null)
  assert.ok(!headOf(note).includes('permalink'))
  assert.deepEqual([note.relations[0]?.from_id, note.relations[0]?.to_id], ['d/Source.md', 'd/Target.md'])
  const { body: put } = await notes.put(
    note.external_id,
    { title: 'Source', directory: 'e', content: '[[Target]]' },
    200,
  )
  const { body: patched } = await notes.patch(note.external_id, { operation: 'append', content: 'x' }, 200)
  const { body: moved } = await notes.move(note.external_id, 'f/Source.md', 200)
  for (const each of [put, patched, moved]) {
    assert.equal(each.permalink, null)
    assert.ok(!each.content.includes('permalink'))
    assert.equal(each.relations[0]?.to_external_id, target.external_id)
  }
  const own = await notes.create({ title: 'Own', content: '---\npermalink: mine\n---\n' })
  assert.equal(own.permalink, 'mine', 'one that the text gives is kept')
})

test('update_permalinks_on_move: the permalink follows the path, and the old one still leads to the note', async () => {
  await using notes = await startWith('UPDATE_PERMALINKS_ON_MOVE', 'true')
  const note = await notes.create({ title: 'Moving', directory: 'a', content: 'text' })
  const { body: moved } = await notes.move(note.external_id, 'b/Moved.md', 200)
  assert.equal(moved.permalink, 'main/b/moved')
  assert.match(headOf(moved), /^permalink: main\/b\/moved$/m)
  const { body: put } = await notes.put(note.external_id, { title: 'Put', directory: 'c', content: 'text' }, 200)
  assert.equal(put.permalink, 'main/c/put')
  for (const identifier of ['main/a/moving', 'main/b/moved', 'main/c/put']) {
    const { body } = await notes.api.post(`${notes.base}/resolve`, 200, { body: { identifier, strict: true } })
    assert.equal(body.external_id, note.external_id)
  }
  const { body: again } = await notes.put(note.external_id, { title: 'Put', directory: 'c', content: 'text' }, 200)
  assert.deepEqual(again, put)
})

test('permalinks_include_project: without it a permalink is the path alone', async () => {
  await using notes = await startWith('PERMALINKS_INCLUDE_PROJECT', 'false')
  const note = await notes.create({ title: 'My Feature', directory: 'docs' })
  assert.equal(note.permalink, 'docs/my-feature')
  const linking = await notes.create({ title: 'Links', content: '[[main/docs/my-feature]] [[docs/My Feature]]' })
  assert.ok(linking.relations.every(({ to_external_id: to }) => to === note.external_id))
})

test('kebab_filenames: file names are slugs with the dots of version numbers, titles stay', async () => {
  await using notes = await startWith('KEBAB_FILENAMES', 'true')
  const cases = {
    'My Great Feature!': 'my-great-feature.md',
    'Version 2.0.0': 'version-2.0.0.md',
    Ünïcode: 'unicode.md',
  }
  for (const [title, path] of Object.entries(cases)) {
    const note = await notes.create({ title })
    assert.deepEqual([note.title, note.file_path], [title, path])
  }
})
