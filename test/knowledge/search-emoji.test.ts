import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachServer } from './each-server.ts'
import { marked, search, titles } from './search-api.ts'

eachServer('emoji', (notes) => {
  test('are found where they stand, marked as a whole, and no others with them', async () => {
    const moods = await notes().project('Moods')
    await moods.create({ title: 'Sun', content: 'Nice weather ☀️ today.\n' })
    await moods.create({ title: 'Heart', content: 'I ❤️ tea.\n' })
    await moods.create({ title: 'Family', content: 'The 👨‍👩‍👧 and their 👍🏽.\n' })
    await moods.create({ title: 'Ideas 💡', content: 'Launch🚀now\n' })
    const found = async (text: string) => titles(await search(moods, text))
    for (const [text, title] of Object.entries({
      '☀️': 'Sun',
      '☀': 'Sun',
      '❤️ tea': 'Heart',
      '👨‍👩‍👧': 'Family',
      '👍': 'Family',
      '🚀': 'Ideas 💡',
      '💡': 'Ideas 💡',
      'launch🚀': 'Ideas 💡',
      '"launch 🚀 now"': 'Ideas 💡',
      now: 'Ideas 💡',
    })) {
      assert.deepEqual(await found(text), [title], text)
    }
    for (const text of ['✅', '👩‍👨', '🇩🇪', '\ufe0f', '☀️ tea']) assert.deepEqual(await found(text), [], text)
    assert.deepEqual(titles(await search(moods, { title: '💡' })), ['Ideas 💡'])
    const snippets = async (text: string) => (await search(moods, text)).results[0]?.snippets.map(marked)
    assert.deepEqual(await snippets('❤'), ['I <❤️> tea.'])
    assert.deepEqual(await snippets('👨‍👩‍👧'), ['The <👨‍👩‍👧> and their 👍🏽.'])
    assert.deepEqual(await snippets('👍'), ['The 👨‍👩‍👧 and their <👍🏽>.'])
    assert.deepEqual(await snippets('🚀'), ['Launch<🚀>now'])
  })
})
