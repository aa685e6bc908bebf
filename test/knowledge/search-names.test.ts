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
