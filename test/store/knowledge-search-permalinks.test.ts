import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Main, SearchFilters } from '../../src/knowledge/search/filter/filters.ts'
import { parseMetadataFilters } from '../../src/knowledge/search/filter/metadata-filter.ts'
import { eachDatabase } from '../support/each-database.ts'
import { SearchedNotes } from './knowledge-search-notes.ts'

eachDatabase('a search by permalink', (context) => {
  let notes: SearchedNotes
  before(async () => {
    notes = await SearchedNotes.open(await context.open())
    await notes.add([
      {
        id: 1,
        permalink: 'main/drinks/cafe-creme',
        body: '- [tasting] Bitter & sweet\n- [place] a/b\n- [tasting] Bitter & sweet\n- needs [[Milk]]\n- needs [[Milk]]\n',
        metadata: { status: 'draft' },
        updatedAt: 300,
      },
      { id: 2, permalink: 'main/drinks', body: '- [tasting] Bitter\n- has [[Sub/Tea]]\n', updatedAt: 500 },
      { id: 3, permalink: 'Own_Words/Tea', body: '- [fact] very one\n- [fact] very two\n', updatedAt: 400 },
      { id: 4, permalink: 'main/drinks/cafe', body: '- [tasting] Bitter\n', updatedAt: 200 },
    ])
    const others = await SearchedNotes.open(notes.db, 'other')
    await others.add([{ id: 5, permalink: 'main/drinks/water', body: '- [tasting] Bitter\n' }])
  })

  const rows = async (main: Main, filters: SearchFilters = {}) =>
    (await notes.find(main, filters)).rows.map(({ noteId, kind, position }) => `${noteId} ${kind} ${position}`)
  const exact = (text: string, filters?: SearchFilters) => rows({ mode: 'permalink', text }, filters)
  const like = (pattern: string, filters?: SearchFilters) => rows({ mode: 'permalink_match', pattern }, filters)

  test('finds an observation and a relation by its own, with or without the project in front', async () => {
    const sweet = 'drinks/cafe-creme/observations/tasting/bitter-sweet'
    assert.deepEqual(await exact(`main/${sweet}`), ['1 observation 0'])
    assert.deepEqual(await exact(sweet), ['1 observation 0'])
    assert.deepEqual(await exact('main/drinks/cafe-creme/observations/place/a/b'), ['1 observation 1'])
    assert.deepEqual(await exact('main/drinks/cafe-creme/needs/milk'), ['1 relation 0'])
    assert.deepEqual(await exact('main/drinks/has/sub/tea'), ['2 relation 0'])
    for (const text of [
      'main/drinks/cafe-creme/observations',
      'main/drinks/cafe-creme/',
      `main/${sweet}/`,
      `x/${sweet}`,
    ]) {
      assert.deepEqual(await exact(text), [], text)
    }
  })

  test('narrows observations by their categories in every Unicode form', async () => {
    const forms = await SearchedNotes.open(notes.db, 'forms')
    await forms.add([{ id: 900_000, permalink: 'forms/one', body: '- [u\u0308bung] one\n- [other] two\n' }])
    for (const category of ['\u00fcbung', 'u\u0308bung']) {
      const { rows: found } = await forms.find({ mode: 'permalink_match', pattern: '*' }, { categories: [category] })
      assert.deepEqual(
        found.map(({ kind, position }) => [kind, position]),
        [['observation', 0]],
      )
    }
  })

  test('matches parts of a note whose permalink is no slug', async () => {
    assert.deepEqual(await like('*/fact/*'), ['3 observation 0', '3 observation 1'])
    assert.deepEqual(await like('*o*/tea/observations/*-one'), ['3 observation 0'])
  })

  test('matches rows of all kinds by their own, notes first', async () => {
    assert.deepEqual(await like('main/drinks/cafe-creme*'), [
      '1 note 0',
      '1 observation 0',
      '1 relation 0',
      '1 observation 1',
    ])
    assert.deepEqual(await like('drinks/c*'), [
      '4 note 0',
      '1 note 0',
      ...['4 observation 0', '1 observation 0', '1 relation 0', '1 observation 1'],
    ])
    assert.deepEqual(await like('*bitter*'), ['2 observation 0', '4 observation 0', '1 observation 0'])
    assert.deepEqual(await like('main/drinks/observations/*'), ['2 observation 0'])
    assert.deepEqual(await like('main/drinks/obs*/bitter'), ['2 observation 0'])
    assert.deepEqual(await like('main/drinks/has/sub/t*'), ['2 relation 0'])
    assert.deepEqual(await like('main/drinks/has/sub/tea'), ['2 relation 0'])
    assert.deepEqual(await like('%'), [])
  })

  test('keeps to kinds, categories and filters of notes, and puts the newest first where that is asked for', async () => {
    assert.deepEqual(await like('main/drinks/*', { kinds: ['note'] }), ['4 note 0', '1 note 0'])
    assert.deepEqual(await like('main/drinks/*', { kinds: ['relation'] }), ['2 relation 0', '1 relation 0'])
    assert.deepEqual(await like('*', { categories: ['place'] }), ['1 observation 1'])
    assert.deepEqual(await like('*', { categories: ['place'], kinds: ['note'] }), [])
    const draft = { metadata: parseMetadataFilters({ status: 'draft' }) }
    assert.deepEqual(await like('*bitter*', draft), ['1 observation 0'])
    const sweet = 'main/drinks/cafe-creme/observations/tasting/bitter-sweet'
    assert.deepEqual(await exact(sweet, { kinds: ['note'] }), [])
    assert.deepEqual(await exact(sweet, { status: 'done' }), [])
    assert.deepEqual(await like('*bitter*', { after: 250 }), ['2 observation 0', '1 observation 0'])
    assert.deepEqual(await like('main/drinks*', { after: 250 }), [
      ...['2 note 0', '2 observation 0', '2 relation 0'],
      ...['1 note 0', '1 observation 0', '1 relation 0', '1 observation 1'],
    ])
  })

  test('answers hostile ones without ado', async () => {
    const all = await like('*')
    assert.ok(all.length > 0)
    for (const [text, found] of [
      ['/'.repeat(2_000), []],
      ['a/'.repeat(1_000), []],
      ['*a'.repeat(1_000), []],
      ['*'.repeat(2_000), all],
      ['/*/', []],
      ['-/-', []],
      ['*/', []],
    ] as const) {
      const shown = text.slice(0, 10)
      assert.deepEqual(await exact(text), [], shown)
      assert.deepEqual(await like(text), found, shown)
    }
  })

  test('says that there are more than it counts', async () => {
    const lines = Array.from({ length: 10_050 }, (_, number) => `- [row] ${number}\n`)
    const project = await SearchedNotes.open(notes.db, 'many')
    await project.add([{ id: 6, permalink: 'many/rows', body: lines.join('') }])
    const all = await project.find({ mode: 'permalink_match', pattern: 'many/*' }, {}, { limit: 2, offset: 0 })
    assert.deepEqual(
      [all.rows.map(({ kind }) => kind), all.total, all.isExact],
      [['note', 'observation'], 10_000, false],
    )
    const few = await project.find({ mode: 'permalink_match', pattern: 'many/*/99*' })
    assert.deepEqual([few.total, few.isExact], [1 + 10 + 100, true])
  })
})
