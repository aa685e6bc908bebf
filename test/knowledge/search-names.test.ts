import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachServer } from './each-server.ts'
import { search, titles } from './search-api.ts'

eachServer('search by what notes are called', (notes) => {
  test('finds titles by every form of a word, those first that have it as it was asked for', async () => {
    const project = await notes().project('Forms')
    for (const title of ['House', 'Housing', 'Household', 'Happy', 'Happiness', 'Hopes', 'Hoping', 'Hop']) {
      await project.create({ title, directory: 'forms' })
    }
    const found = async (title: string) => titles(await search(project, { title })).toSorted()
    assert.deepEqual(await found('houses'), ['House', 'Housing'])
    assert.deepEqual(await found('house'), ['House', 'Household', 'Housing'])
    assert.deepEqual(await found('happy'), ['Happiness', 'Happy'])
    assert.deepEqual(await found('hope'), ['Hopes', 'Hoping'])
    assert.deepEqual(await found('"houses"'), [])
    assert.deepEqual(titles(await search(project, { title: 'housing' })), ['Housing', 'House'])
  })

  test('finds a note by its own title, whatever operators and tags that has', async () => {
    const project = await notes().project('Operators')
    const own = ['DO NOT ENTER', 'How NOT to Fail', 'Tag: blue', 'tags:list', 'Trial OR Error', "DON'T (AND NOT) PANIC"]
    for (const title of [...own, 'Do', 'How to win', 'Error']) await project.create({ title, note_type: 'sign' })
    for (const title of own) {
      assert.equal(titles(await search(project, { title }))[0], title)
      assert.ok(titles(await search(project, { title: `${title}!` })).includes(title), title)
      assert.deepEqual(titles(await search(project, { title, note_types: ['note'] })), [])
    }
    assert.deepEqual(titles(await search(project, { title: 'Trial OR Error' })), ['Trial OR Error', 'Error'])
  })

  test('shows the words of the path by which a note is found that was moved and kept its permalink', async () => {
    const project = await notes().project('Moves')
    const { external_id: id } = await project.create({ title: 'Kettle', directory: 'kitchen' })
    await project.move(id, 'attic/boxes/Kettle.md', 200)
    const { results } = await search(project, 'boxes')
    assert.deepEqual(results[0]?.snippets, [
      { field: 'file_path', text: 'attic/boxes/Kettle.md', highlights: [[6, 11]] },
    ])
  })
})
