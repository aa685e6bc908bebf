import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { eachServer } from './each-server.ts'
import type { WireNote } from './notes-api.ts'
import { marked, search, titles, type WireHit } from './search-api.ts'

eachServer('search by words', (notes) => {
  let coffee: WireNote
  let water: WireNote

  before(async () => {
    coffee = await notes().create({
      title: 'Coffee Brewing',
      directory: 'drinks',
      entity_metadata: { tags: ['hot', 'brew'], status: 'draft', rating: 4, source: { country: 'Peru' } },
      content:
        '# Grind\n\nA café grinds its beans slowly.\n\n- [method] pour over takes patience #slow (at home)\n- needs [[Water]]\n- needs [[Kettle]] (a hot one)\n',
    })
    water = await notes().create({
      title: 'Water',
      directory: 'drinks',
      note_type: 'Raw Material',
      entity_metadata: { tags: ['hot'], status: 'final', rating: 10 },
      content: 'Boils at a hundred degrees.\n\n- [fact] boils slowly on mountains\n',
    })
    await notes().create({ title: '東京の喫茶店', directory: 'places', content: '東京都の古い喫茶店で飲む。' })
    const other = await notes().project('Elsewhere')
    await other.create({ title: 'Coffee of others', content: 'café patience 東京都\n- [method] patience elsewhere' })
  })

  const hit = (results: WireHit[], type: string): WireHit => {
    const found = results.find((result) => result.type === type)
    assert.ok(found, `there is ${type === 'entity' ? 'an' : 'a'} ${type}`)
    return found
  }

  test('puts what is called just so before what says it more often', async () => {
    const other = await notes().project('Called so')
    for (let at = 1; at <= 5; at++) {
      await other.create({ title: `Orchard orchard notes ${at}`, content: `${'orchard '.repeat(40)}` })
    }
    await other.create({ title: 'Orchard', content: 'Nothing about it.' })
    for (let at = 6; at <= 9; at++) await other.create({ title: `Orchard orchard ${at}`, content: 'orchard' })
    assert.equal(titles(await search(other, { text: 'orchard', entity_types: ['entity'] }))[0], 'Orchard')
    for (const title of ['C++', 'C#', 'C']) await other.create({ title, content: title })
    for (const title of ['C++', 'C#', 'C']) assert.equal(titles(await search(other, { title }))[0], title)
  })

  test('finds a relation by the beginning of its type, also where no text has the type', async () => {
    const other = await notes().project('Linked')
    await other.create({ title: 'From', content: 'See [[Somewhere]].\n' })
    for (const text of ['links_to', 'lin', 'l*', 't*']) {
      const { results } = await search(other, { text, entity_types: ['relation'] })
      assert.equal(results[0]?.relation_type, 'links_to', text)
    }
  })

  test('answers with the note as it is documented', async () => {
    const { results, ...envelope } = await search(notes(), { text: 'grinds', entity_types: ['entity'] })
    assert.deepEqual(envelope, { current_page: 1, page_size: 10, total: 1, total_is_exact: true, has_more: false })
    const { score, content, snippets, ...found } = results[0] as WireHit
    assert.ok(score > 0)
    assert.ok(content.startsWith('# Grind') && content.includes('pour over'), 'the text without frontmatter')
    assert.deepEqual(found, {
      title: 'Coffee Brewing',
      type: 'entity',
      entity: coffee.permalink,
      external_id: coffee.external_id,
      permalink: coffee.permalink,
      matched_chunk: null,
      file_path: 'drinks/Coffee Brewing.md',
      updated_at: coffee.updated_at,
      metadata: coffee.entity_metadata,
      entity_id: coffee.id,
    })
    assert.ok(snippets.some((snippet) => snippet.field === 'content' && marked(snippet).includes('café <grinds> its')))
  })

  test('answers with observations and relations as results of their own', async () => {
    const { results, total } = await search(notes(), 'patience')
    assert.equal(total, 2)
    const observation = hit(results, 'observation')
    assert.equal(observation.external_id, coffee.external_id)
    assert.equal(observation.observation_id, (coffee.observations[0] as { id?: number }).id)
    assert.equal(observation.permalink, coffee.observations[0]?.permalink)
    assert.equal(observation.category, 'method')
    assert.equal(observation.content, 'pour over takes patience #slow')
    assert.deepEqual(observation.metadata, { tags: ['slow'], context: 'at home' })
    assert.deepEqual(observation.snippets.map(marked), ['pour over takes <patience> #slow (at home)'])

    const bound = hit((await search(notes(), { text: 'needs water', entity_types: ['relation'] })).results, 'relation')
    assert.equal(bound.title, 'Coffee Brewing → Water')
    assert.equal(bound.relation_type, 'needs')
    assert.equal(bound.from_entity, coffee.permalink)
    assert.equal(bound.to_entity, water.permalink)
    assert.equal(typeof bound.relation_id, 'number')
    const open = hit((await search(notes(), { text: 'kettle', entity_types: ['relation'] })).results, 'relation')
    assert.equal(open.to_entity, null)
    assert.equal('category' in open, false)
  })

  test('folds accents and finds characters of scripts without spaces, and marks both', async () => {
    const folded = await search(notes(), { text: 'cafe', entity_types: ['entity'] })
    assert.deepEqual(titles(folded), ['Coffee Brewing'])
    assert.ok(folded.results[0]?.snippets.some((snippet) => marked(snippet).includes('<café>')))
    const unspaced = await search(notes(), '喫茶')
    assert.deepEqual(titles(unspaced), ['東京の喫茶店'])
    assert.deepEqual(unspaced.results[0]?.snippets.map(marked), ['東京の<喫茶>店', '東京都の古い<喫茶>店で飲む。'])
  })

  test('marks words of scripts without spaces and with marks as a whole', async () => {
    await notes().create({ title: 'บันทึก', directory: 'places', content: 'ฉันดื่มน้ำที่แม่น้ำใหญ่แล้วไปห้องสมุด' })
    const shown = async (text: string) =>
      (await search(notes(), text)).results.flatMap((hit) => hit.snippets.map(marked))
    assert.deepEqual(await shown('แม่น้ำ'), ['ฉันดื่มน้ำที่<แม่น้ำ>ใหญ่แล้วไปห้องสมุด'])
    assert.deepEqual(await shown('ห้องสมุดโรงเรียน'), ['ฉันดื่มน้ำที่แม่น้ำใหญ่แล้วไป<ห้องสมุด>'])
  })

  test('tries again with some of the words when no note has all words of a question', async () => {
    assert.deepEqual(titles(await search(notes(), 'astronaut beans preference')), ['Coffee Brewing'])
    assert.deepEqual(titles(await search(notes(), 'beans astronaut')), [])
    assert.deepEqual(titles(await search(notes(), '"beans does the astronaut prefer"')), [])
  })

  test('takes brackets and numbers at their word: nothing has all of it, so nothing is found', async () => {
    for (const text of [
      'beans (astronaut preference)',
      'NEAR(beans astronaut, 2)',
      'astronaut beans preference 2023',
    ]) {
      assert.deepEqual(titles(await search(notes(), text)), [], text)
    }
    assert.deepEqual(titles(await search(notes(), 'what are the (beans of astronauts)')), [])
    assert.deepEqual(titles(await search(notes(), { text: 'grinds (beans slowly)', entity_types: ['entity'] })), [
      'Coffee Brewing',
    ])
  })

  test('takes what signs join as one word: it is found as a whole or not at all', async () => {
    const apart = await notes().project('joined words')
    await apart.create({ title: 'Joined', content: 'A state-of-the-art machine of I.B.M.' })
    await apart.create({ title: 'Apart', content: 'An article about bees in the state of Ohio' })
    for (const text of ['state-of-the-art', 'I.B.M.']) assert.deepEqual(titles(await search(apart, text)), ['Joined'])
    assert.equal((await search(apart, 'https://example.com/is/state')).total, 0)
  })

  test('takes some of the words of a question as people speak it, and puts what has more of them first', async () => {
    assert.deepEqual(titles(await search(notes(), 'which beans does the astronaut prefer?')), ['Coffee Brewing'])
    assert.deepEqual(titles(await search(notes(), 'what are the beans?')), ['Coffee Brewing'])
    const both = { text: 'at how many degrees does the water boil slowly?', entity_types: ['entity'] }
    const { results, total, has_more: hasMore } = await search(notes(), both)
    assert.deepEqual([results.map(({ title }) => title), total, hasMore], [['Water', 'Coffee Brewing'], 2, false])
    assert.deepEqual(titles(await search(notes(), both, { query: '?page=2&page_size=1' })), ['Coffee Brewing'])
  })

  test('finds titles, permalinks and patterns of permalinks', async () => {
    assert.deepEqual(titles(await search(notes(), { title: 'brewing' })), ['Coffee Brewing'])
    assert.deepEqual(titles(await search(notes(), { permalink: coffee.permalink })), ['Coffee Brewing'])
    assert.deepEqual(titles(await search(notes(), { permalink: 'drinks' })), [])
    const { results } = await search(notes(), { permalink_match: 'main/drinks/*', entity_types: ['entity'] })
    assert.deepEqual(results.map(({ title }) => title).toSorted(), ['Coffee Brewing', 'Water'])
    assert.deepEqual(results[0]?.snippets, [])
  })

  test('finds every observation and relation by its own permalink', async () => {
    const project = await notes().project('Parts')
    const long = 'very '.repeat(60)
    await project.create({
      title: 'Parts of it',
      directory: 'deep/er',
      content: `---\npermalink: Own_Words/Tea\n---\n- [fact] ${long}one\n- [fact] ${long}two #tag (why)\n- has [[Sub/Tea]]\n`,
    })
    await project.create({
      title: 'Target',
      content: 'aim [[Parts of it]]\n\n- of [[Parts of it]]\n- at [[Parts of it]]\n',
    })
    const own = await search(project, { permalink_match: 'own-words/tea/observations/fact/*' })
    assert.equal(own.total, 2)
    for (const api of [notes(), project]) {
      const { results } = await search(api, { entity_types: ['observation', 'relation'] }, { query: '?page_size=100' })
      assert.ok(results.length >= 4)
      for (const { permalink, type, observation_id: observation, relation_id: relation } of results) {
        for (const asked of [
          { permalink },
          { permalink_match: permalink },
          { permalink_match: `${permalink?.slice(0, -1)}*` },
        ]) {
          const answer = await search(api, asked)
          const found = answer.results.map((result) => [result.type, result.observation_id, result.relation_id])
          assert.deepEqual(found, [[type, observation, relation]], JSON.stringify(asked))
          assert.deepEqual([answer.total, answer.total_is_exact, answer.has_more], [1, true, false])
        }
      }
    }
  })

  test('matches the permalinks of results of all kinds, and pages through them', async () => {
    const asked = { permalink_match: 'main/drinks/*' }
    const kinds = async (types: string[]) =>
      (await search(notes(), { ...asked, entity_types: types })).results.map(({ type, content }) => [type, content])
    assert.deepEqual(await kinds(['observation']), [
      ['observation', 'pour over takes patience #slow'],
      ['observation', 'boils slowly on mountains'],
    ])
    assert.equal((await kinds(['relation'])).length, 2)
    const whole = await search(notes(), asked)
    assert.deepEqual([whole.total, whole.results.slice(0, 2).every(({ type }) => type === 'entity')], [6, true])
    const second = await search(notes(), asked, { query: '?page=2&page_size=4' })
    assert.deepEqual(second.results, whole.results.slice(4))
  })

  test('narrows by every filter, and takes filters alone', async () => {
    const entities = async (filters: object) => titles(await search(notes(), { entity_types: ['entity'], ...filters }))
    assert.deepEqual(await entities({ note_types: ['raw-material'] }), ['Water'])
    assert.deepEqual((await entities({ tags: ['hot'] })).toSorted(), ['Coffee Brewing', 'Water'])
    assert.deepEqual(await entities({ tags: ['hot', 'brew'] }), ['Coffee Brewing'])
    assert.deepEqual(await entities({ text: 'tag:hot,brew' }), ['Coffee Brewing'])
    assert.deepEqual(await entities({ tags: ['#hot', '#brew'] }), ['Coffee Brewing'])
    assert.deepEqual(await entities({ text: 'tag:hot NOT tag:brew' }), ['Water'])
    assert.deepEqual((await entities({ text: 'NOT tag:hot' })).toSorted(), ['บันทึก', '東京の喫茶店'])
    assert.deepEqual(await entities({ text: 'slowly NOT tag:brew' }), ['Water'])
    assert.deepEqual(await entities({ status: 'final' }), ['Water'])
    assert.deepEqual(await entities({ metadata_filters: { rating: { $gt: 5 } } }), ['Water'])
    assert.deepEqual(await entities({ metadata_filters: { 'source.country': 'Peru' } }), ['Coffee Brewing'])
    assert.deepEqual(await entities({ metadata_filters: { status: 'draft' }, status: 'final' }), ['Coffee Brewing'])
    assert.deepEqual(await entities({ text: 'boils', after_date: '7d' }), ['Water'])
    assert.deepEqual(await entities({ text: 'boils', after_date: '2999-01-01' }), [])
    const facts = await search(notes(), { text: 'slow', categories: ['method'] })
    assert.deepEqual(
      facts.results.map(({ type, category }) => [type, category]),
      [['observation', 'method']],
    )
  })

  test('filters find what is written in another Unicode form, which is answered as it was written', async () => {
    const project = await notes().project('Forms')
    const content = (city: string) => `---\ntags: [${city}]\nstatus: ${city}\ntype: ${city}\n---\n\n- [${city}] fact\n`
    const [composed, decomposed] = ['z\u00fcrich', 'zu\u0308rich']
    await project.create({ title: 'One', content: content(composed) })
    await project.create({ title: 'Two', content: content(decomposed) })
    for (const city of [composed, decomposed]) {
      const asked = [
        { tags: [city] },
        { text: `tag:${city}` },
        { status: city },
        { note_types: [city] },
        { metadata_filters: { status: city } },
      ]
      for (const filters of asked) {
        const { results } = await search(project, { entity_types: ['entity'], ...filters })
        assert.deepEqual(
          results.map(({ title, metadata }) => [title, metadata?.status]),
          [
            ['Two', decomposed],
            ['One', composed],
          ],
          JSON.stringify(filters),
        )
      }
      assert.deepEqual(titles(await search(project, { categories: [city] })), ['Two', 'One'])
    }
  })

  test('has nothing for nobody who asks nothing', async () => {
    const nothing = { results: [], current_page: 1, page_size: 10, total: 0, total_is_exact: true, has_more: false }
    const asked = [
      {},
      { text: '' },
      { text: ' \n ' },
      { text: null },
      { text: '?!' },
      { note_types: [] },
      { retrieval_mode: 'fts' },
    ]
    for (const body of asked) assert.deepEqual(await search(notes(), body), nothing, JSON.stringify(body))
  })

  test('pages through all of it without a gap or a repetition', async () => {
    const project = await notes().project('Pages')
    for (let number = 0; number < 7; number++) await project.create({ title: `Page ${number}`, content: 'walrus' })
    const seen: string[] = []
    for (const [page, more] of [
      [1, true],
      [2, true],
      [3, false],
    ] as const) {
      const answer = await search(project, 'walrus', { query: `?page=${page}&page_size=3` })
      assert.deepEqual([answer.current_page, answer.page_size, answer.total], [page, 3, 7])
      assert.equal(answer.has_more, more)
      seen.push(...titles(answer))
    }
    assert.equal(new Set(seen).size, 7)
    assert.deepEqual(titles(await search(project, 'walrus', { query: '?page=1000000&page_size=100' })), [])
  })

  test('never shows what is in another project, and nothing of what is deleted', async () => {
    for (const text of ['patience', 'café', '東京都', 'coffee', 'elsewhere', 'method', 'others']) {
      for (const { external_id: id, title } of (await search(notes(), { text })).results) {
        assert.notEqual(title, 'Coffee of others')
        await notes().get(id)
      }
    }
    assert.deepEqual(titles(await search(notes(), { permalink: 'elsewhere/coffee-of-others' })), [])
    assert.deepEqual(titles(await search(notes(), { permalink_match: '*others*' })), [])
    const gone = await notes().create({ title: 'Ephemeral', content: 'mayfly\n- [fact] mayfly' })
    assert.equal((await search(notes(), 'mayfly')).total, 2)
    await notes().delete(gone.external_id)
    assert.equal((await search(notes(), 'mayfly')).total, 0)
  })

  test('sees a change at once', async () => {
    const note = await notes().create({ title: 'Fresh', content: 'zeppelin' })
    assert.deepEqual(titles(await search(notes(), 'zeppelin')), ['Fresh'])
    await notes().patch(
      note.external_id,
      { operation: 'find_replace', find_text: 'zeppelin', content: 'gyrocopter' },
      200,
    )
    assert.deepEqual(titles(await search(notes(), 'zeppelin')), [])
    assert.deepEqual(titles(await search(notes(), 'gyrocopter')), ['Fresh'])
  })

  describe('hostile questions', () => {
    const TEXTS = [
      ...['AND', 'OR NOT', '((((', '))))', '"', '""', '" OR "', "'; drop table notes; --", 'a AND', 'NOT', 'NOT NOT x'],
      ...[
        '*',
        'x*',
        '^x',
        'title:x',
        'scope : p1',
        'NEAR(a b, 2)',
        '{a b}',
        '-a',
        '+a',
        'a-b_c.d',
        "o'clock",
        '\\',
        '%',
        '_',
      ],
      ...[
        'a:*',
        'a & b',
        'a | !b',
        '<->',
        'a <-> b',
        "'a' & 'b",
        '$$',
        '/*',
        '&amp;',
        '\u202e',
        '\ufeff',
        '\0',
        'a\0b',
      ],
      ...[
        '\ud800',
        'a\udc00b',
        '😀',
        '\u0301',
        'é'.repeat(5_000),
        '\u{1f993}'.repeat(1_000),
        'x'.repeat(15_000),
        '東'.repeat(5_000),
      ],
      Array.from({ length: 9_000 }, (_, n) => `${String.fromCodePoint(0x4e00 + n)}${n % 10}`).join(''),
      ...['('.repeat(10_000), '[]'.repeat(5_000), '"'.repeat(9_999), 'NOT '.repeat(2_500), 'a OR '.repeat(2_000)],
      ...[
        '( a '.repeat(2_000),
        'tag:',
        'tag:,,,',
        `tag:${'a,'.repeat(4_000)}`,
        `${'word '.repeat(3_000)}`,
        '-'.repeat(10_000),
      ],
    ]

    test('are answered with 200', async () => {
      for (const text of TEXTS) {
        const answer = await search(notes(), { text })
        assert.ok(Array.isArray(answer.results), text.slice(0, 50))
      }
    })

    test('in other places are answered with 200, too', async () => {
      for (const text of TEXTS.filter(({ length }) => length <= 2_000)) {
        await search(notes(), { title: text })
        await search(notes(), { permalink: text })
        await search(notes(), { permalink_match: text })
        await search(notes(), { text: 'coffee', note_types: [text], tags: [text], status: text, categories: [text] })
        await search(notes(), {
          metadata_filters: { title: text, tags: [text], status: { $in: [text] }, a: { $gt: text } },
        })
      }
    })
  })
})
