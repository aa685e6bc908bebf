import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachServer } from './each-server.ts'
import { marked, search, titles } from './search-api.ts'

eachServer('search for what is more, or less, than letters', (notes) => {
  test('finds a word with soft hyphens by the word, and the word by one with soft hyphens', async () => {
    const other = await notes().project('Hyphenated')
    await other.create({ title: 'Hyphens', content: 'Ein Donau\u00addampf\u00adschiff fährt.\n' })
    await other.create({ title: 'Plain', content: 'Noch ein Donaudampfschiff.\n' })
    for (const text of ['Donaudampfschiff', 'Donau\u00addampfschiff', '"ein donaudampfschiff"', 'donaudampf*']) {
      assert.deepEqual(titles(await search(other, { text })).sort(), ['Hyphens', 'Plain'], text)
    }
    assert.deepEqual(titles(await search(other, { text: 'dampf' })), [])
  })

  test('finds letters and digits of other alphabets however they are typed, and marks them as they stand', async () => {
    const shelf = await notes().project('Shelf')
    await shelf.create({ title: 'فارسی', content: 'این کتاب در سال ۱۴۰۳ چاپ شد.\n' })
    await shelf.create({ title: 'हिन्दी', content: 'यह किताब २०२४ में छपी।\n' })
    await shelf.create({ title: 'සිංහල', content: 'ශ්\u200dරී ලංකා\n' })
    const snippets = async (text: string) => (await search(shelf, { text })).results[0]?.snippets.map(marked)
    assert.deepEqual(await snippets('كتاب'), ['این <کتاب> در سال ۱۴۰۳ چاپ شد.'])
    assert.deepEqual(await snippets('1403'), ['این کتاب در سال <۱۴۰۳> چاپ شد.'])
    assert.deepEqual(await snippets('"سال ١٤٠٣"'), ['این کتاب در <سال> <۱۴۰۳> چاپ شد.'])
    assert.deepEqual(await snippets('2024'), ['यह किताब <२०२४> में छपी।'])
    assert.deepEqual(await snippets('ශ්රී'), ['<ශ්\u200dරී> ලංකා'])
    assert.deepEqual(titles(await search(shelf, { text: '٢٠٢٤' })), ['हिन्दी'])
    assert.deepEqual(titles(await search(shelf, { title: 'فارسي' })), ['فارسی'])
    assert.deepEqual(titles(await search(shelf, { text: '1402' })), [])
  })

  test('finds emoji where they stand, marked as a whole, and no others with them', async () => {
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

  test('finds everything that passes the filters by a lone star, and a note by its path as it is answered', async () => {
    const other = await notes().project('Stars')
    await other.create({
      title: 'Pole Star',
      directory: 'Night Sky',
      note_type: 'star',
      content: '- [kind] a supergiant\n',
    })
    await other.create({ title: 'Moon', content: 'No star at all.\n' })
    const kinds = async (body: Record<string, unknown>) =>
      (await search(other, body)).results.map(({ type, title }) => `${type} ${title}`)
    assert.deepEqual((await kinds({ text: '*' })).sort(), ['entity Moon', 'entity Pole Star', 'observation Pole Star'])
    assert.deepEqual(await kinds({ text: ' * ', note_types: ['star'], entity_types: ['entity'] }), ['entity Pole Star'])
    assert.deepEqual(await kinds({ text: '*', tags: ['none'] }), [])
    for (const text of ['Night Sky/Pole Star.md', 'pole star.MD', '"Pole Star" NOT moon.md', 'Sky/Pole*']) {
      assert.deepEqual(titles(await search(other, { text, entity_types: ['entity'] })), ['Pole Star'], text)
    }
  })
})
