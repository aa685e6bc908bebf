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

  test('finds first what is titled just as was asked, whatever small words and signs the title has, in text and in hybrid', async () => {
    const project = await notes().project('Titles')
    const own = [
      'End of year',
      'How to make tea',
      'Notes of the meeting',
      'Node.js',
      "Bob's notes",
      'Q1/Q2',
      '日本',
      'C#',
    ]
    for (const title of own) await project.create({ title, directory: 'own', content: 'Nothing else.' })
    const others = [
      'Year end',
      'Make tea',
      'Tea',
      'Node.js Node.js guide',
      'Bob notes',
      'Notes, Bob',
      'Q1/Q2, Q1',
      '日本日本',
      'C++',
      'C',
    ]
    for (const title of others) await project.create({ title, content: `${title}. ${title} and ${title}.` })
    for (let at = 1; at <= 60; at++) {
      await project.create({ title: `Meeting notes ${at}`, directory: 'all', content: 'Meeting notes of a meeting.' })
    }
    for (const title of own) {
      for (const mode of ['fts', 'hybrid']) {
        for (const text of [title, `${title}?`.toUpperCase()]) {
          if (text !== title && title === 'C#') continue
          const { results } = await search(project, { text, retrieval_mode: mode, entity_types: ['entity'] })
          assert.equal(results[0]?.title, title, `${mode}: ${text}`)
          const scores = results.map(({ score }) => score)
          const falling = scores.toSorted((one, other) => other - one)
          assert.deepEqual(scores, falling)
        }
      }
    }
  })

  test('finds what is titled with signs alone', async () => {
    const project = await notes().project('Signs')
    for (const title of ['★★★', '→', '!!!', 'Star']) await project.create({ title, note_type: 'sign' })
    for (const title of ['★★★', '→', '!!!']) {
      const { results, total, total_is_exact: isExact } = await search(project, { title })
      assert.deepEqual([results.map((hit) => hit.title), total, isExact], [[title], 1, true])
      assert.equal((await search(project, { title, note_types: ['note'] })).total, 0)
    }
    assert.equal((await search(project, { title: '☆' })).total, 0)
  })

  test('finds the version, the day and the address that was asked for before those of the same parts', async () => {
    const project = await notes().project('Versions')
    for (const version of ['1.0.2', '2.1.0', '1.2.0', '2.0.1']) {
      await project.create({ title: `Changelog ${version}`, content: `What is new in ${version}.` })
    }
    for (const day of ['2024-01-02', '2024-02-01', '2024-01-20']) {
      await project.create({ title: `Standup ${day}`, content: `What we did on ${day}.` })
    }
    for (const host of ['10.0.0.1', '10.0.1.10', '10.1.0.0']) await project.create({ title: `Host ${host}` })
    for (const [text, title] of [
      ['what changed in version 1.0.2', 'Changelog 1.0.2'],
      ['what did we do on 2024-01-02', 'Standup 2024-01-02'],
      ['which host is at 10.0.0.1', 'Host 10.0.0.1'],
    ] as const) {
      for (const mode of ['fts', 'hybrid']) {
        assert.equal(titles(await search(project, { text, retrieval_mode: mode }))[0], title, `${mode}: ${text}`)
      }
    }
  })
  test('finds a note and its parts by a permalink, and files by a pattern, in every Unicode form', async () => {
    const project = await notes().project('Hangul')
    const content = '- [사실] 물은 젖다\n'
    const { permalink, observations } = await project.create({ title: '한국어 문서', directory: '폴더', content })
    const own = '\u1112\u1161\u11ab/\u1100\u1173\u11af'
    await project.create({ title: 'Own', content: `---\npermalink: ${own}\n---\n\nx\n` })
    for (const form of ['NFC', 'NFD'] as const) {
      const found = async (text: string) => titles(await search(project, { permalink: text.normalize(form) }))
      assert.deepEqual(await found(permalink), ['한국어 문서'], form)
      assert.deepEqual(await found(observations[0]?.permalink ?? ''), ['한국어 문서'], form)
      assert.deepEqual(await found(own), ['Own'], form)
      const glob = encodeURIComponent('한국어*'.normalize(form))
      const path = `/v2/${project.projectId}/directory/list?depth=2&file_name_glob=${glob}`
      assert.equal((await project.api.get(path, 200)).body.nodes.at(-1).title, '한국어 문서', form)
    }
  })
})
