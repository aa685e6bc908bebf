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
})
