import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachServer } from './each-server.ts'
import { marked, search, titles } from './search-api.ts'

eachServer('observations and their categories', (notes) => {
  test('an observation is found by its category, too, which is shown then', async () => {
    const coffee = await notes().project('Coffee')
    await coffee.create({ title: 'Brewing', content: '- [method] pour over takes patience #slow (at home)\n' })
    const found = async (text: string) => (await search(coffee, { text, entity_types: ['observation'] })).results
    const [named] = await found('method patience')
    assert.equal(named?.category, 'method')
    assert.deepEqual(named?.snippets.map(marked), ['[<method>] pour over takes <patience> #slow (at home)'])
    assert.deepEqual((await found('patience'))[0]?.snippets.map(marked), ['pour over takes <patience> #slow (at home)'])
    assert.equal((await found('"method pour"')).length, 1)
    assert.equal((await found('"over method"')).length, 0)
  })

  test('of a very long one as much is answered as of a note', async () => {
    const long = await notes().project('Long')
    await long.create({ title: 'Log', content: `- [log] penguin ${'x'.repeat(9_991)}😀${'y'.repeat(90_000)}\n` })
    const [found] = (await search(long, { text: 'penguin', entity_types: ['observation'] })).results
    assert.equal(found?.content, `penguin ${'x'.repeat(9_991)}`)
  })

  test('of one without an end the beginning is looked into for what is marked, as of a note', async () => {
    const long = await notes().project('Endless')
    await long.create({ title: 'Log', content: `- [log] walrus ${'x '.repeat(105_000)}penguin\n` })
    const shown = async (text: string) => {
      const [found] = (await search(long, { text, entity_types: ['observation'] })).results
      return found?.snippets.map(marked).map((snippet) => snippet.match(/<.*>|^walrus/)?.[0])
    }
    assert.deepEqual(await shown('walrus'), ['<walrus>'])
    assert.deepEqual(await shown('penguin'), ['walrus'])
  })

  test('a long category and context are answered in part, and of very many tags the first', async () => {
    const long = await notes().project('Long names')
    const name = '😀'.repeat(3_000)
    await long.create({ title: 'Log', content: `- [${name}] penguin ${'#ab '.repeat(6_000)}(${name})\n` })
    const [found] = (await search(long, { text: 'penguin', entity_types: ['observation'] })).results
    const metadata = found?.metadata as { tags: string[]; context: string } | undefined
    const shown = '😀'.repeat(2_000)
    assert.deepEqual([found?.category, metadata?.context, metadata?.tags.length], [shown, shown, 5_000])
  })

  test('one without a category is not found by the word that stands for none', async () => {
    const thoughts = await notes().project('Thoughts')
    await thoughts.create({ title: 'A', content: '- a thought #idea\n' })
    assert.deepEqual(titles(await search(thoughts, 'note')), [])
  })
})
