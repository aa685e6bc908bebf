import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { SearchFilters } from '../../src/knowledge/search/filter/filters.ts'
import { parseMetadataFilters } from '../../src/knowledge/search/filter/metadata-filter.ts'
import { filterNotes } from '../../src/knowledge/search/find/find-rows.ts'
import { canonicalType } from '../../src/knowledge/text/frontmatter/note-metadata.ts'
import { eachDatabase } from '../support/each-database.ts'
import { SearchedNotes } from './knowledge-search-notes.ts'

eachDatabase('filters of a search', (context) => {
  let notes: SearchedNotes
  before(async () => {
    notes = await SearchedNotes.open(await context.open())
    await notes.add([
      {
        id: 1,
        title: 'Plan',
        body: 'shared\n\n- [decision] shared choice\n- [risk] shared danger\n',
        metadata: { status: 'draft', priority: 9, tags: ['Work', 'q1'], owner: { team: 'blue' } },
        updatedAt: 300,
        permalink: 'main/plans/plan',
      },
      {
        id: 2,
        title: 'Log',
        body: 'shared\n\n- [decision] shared end\n',
        metadata: { status: 'done', priority: '10', tags: 'work, q2', due: '2026-03-01' },
        type: 'log_entry',
        updatedAt: 500,
        permalink: 'main/plans/log',
      },
      { id: 3, title: 'Bare', body: 'shared', updatedAt: 400, permalink: 'main/bare_1' },
      {
        id: 4,
        title: 'Old',
        body: 'nothing',
        metadata: { status: 'done', due: '2025-12-31', priority: 2.5 },
        updatedAt: 100,
        permalink: 'main/bareX1',
      },
    ])
  })

  const metadata = (value: unknown): SearchFilters => ({ metadata: parseMetadataFilters(value) })
  const alone = async (filters: SearchFilters) =>
    (await notes.find({ mode: 'none' }, { kinds: ['note'], ...filters })).rows.map(({ noteId }) => noteId)

  const FILTERS: [promise: string, filters: SearchFilters, notes: number[]][] = [
    ['nothing but the kind', {}, [2, 3, 1, 4]],
    ['a type in any spelling', { noteTypes: ['Log Entry'] }, [2]],
    ['one of several types', { noteTypes: ['logEntry', 'note'] }, [2, 3, 1, 4]],
    ['a type that nothing has', { noteTypes: ['nope'] }, []],
    ['a tag, in any case', { tags: ['work'] }, [2, 1]],
    ['all of several tags', { tags: ['work', 'q1'] }, [1]],
    ['a status', { status: 'done' }, [2, 4]],
    ['a condition instead of the status', { status: 'done', ...metadata({ status: 'draft' }) }, [1]],
    ['a condition instead of the tags', { tags: ['q1'], ...metadata({ tags: 'q2' }) }, [2]],
    ['a value', metadata({ status: 'draft' }), [1]],
    ['a number, however it is written', metadata({ priority: 10 }), [2]],
    ['a number in a text', metadata({ priority: '9' }), [1]],
    ['a value inside of another', metadata({ 'owner.team': 'blue' }), [1]],
    ['all values of a list', metadata({ tags: ['work', 'q2'] }), [2]],
    ['one of some values', metadata({ status: { $in: ['draft', 'done'] } }), [2, 1, 4]],
    ['more than a number', metadata({ priority: { $gt: 9 } }), [2]],
    ['at least a number', metadata({ priority: { $gte: 9 } }), [2, 1]],
    ['less than a number', metadata({ priority: { $lt: 9 } }), [4]],
    ['between two, both included', metadata({ priority: { $between: [2.5, 9] } }), [1, 4]],
    ['later than a day', metadata({ due: { $gt: '2026-01-01' } }), [2]],
    ['two conditions', metadata({ status: 'done', due: { $lte: '2025-12-31' } }), [4]],
    ['a key that nothing has', metadata({ nope: 1 }), []],
    ['a title', metadata({ title: 'Plan' }), []],
    ['changes since a time, the newest first', { after: 300 }, [2, 3, 1]],
    ['changes since a time, with a status', { after: 300, status: 'done' }, [2]],
  ]
  for (const [promise, filters, expected] of FILTERS) {
    test(`alone: ${promise}`, async () => {
      assert.deepEqual(await alone(filters), expected)
    })
    test(`for notes that were found otherwise: ${promise}`, async () => {
      const passing = await filterNotes(notes.db, notes.project, [1, 2, 3, 4, 99], filters)
      assert.deepEqual([...passing].sort(), expected.toSorted())
    })
    test(`with words: ${promise}`, async () => {
      const found = await notes.notes('shared OR nothing', filters)
      assert.deepEqual(found.toSorted(), expected.toSorted())
      if (filters.after !== undefined) assert.deepEqual(found, expected)
    })
  }

  test('a category finds observations of it, and nothing else', async () => {
    const { rows, total } = await notes.find({ mode: 'none' }, { categories: ['decision'] })
    assert.deepEqual(
      [total, ...rows.map(({ noteId, kind, position }) => [noteId, kind, position])],
      [2, [2, 'observation', 0], [1, 'observation', 0]],
    )
    assert.equal((await notes.text('shared', { categories: ['decision', 'risk'] })).total, 3)
    assert.equal((await notes.text('choice', { categories: ['risk'] })).total, 0)
    assert.equal((await notes.text('shared', { categories: ['decision'], kinds: ['note'] })).total, 0)
  })

  test('filters hold for the parts of a note, too', async () => {
    const { rows } = await notes.text('shared', { tags: ['q1'] })
    assert.deepEqual(rows.map(({ noteId, kind }) => `${noteId} ${kind}`).sort(), [
      '1 note',
      '1 observation',
      '1 observation',
    ])
  })

  test('tag: in a question is a filter', async () => {
    assert.deepEqual(await notes.notes('shared tag:q1'), [1])
    assert.deepEqual(await notes.notes('shared tag:work,q2'), [2])
    assert.deepEqual(await notes.notes('tag:work'), [2, 1])
    assert.deepEqual(await notes.notes('shared', { tags: ['q2'], ...metadata({ status: 'done' }) }), [2])
  })

  test('NOT tag: in a question refuses notes that have the tags', async () => {
    assert.deepEqual(await notes.notes('NOT tag:q1'), [2, 3, 4])
    assert.deepEqual(await notes.notes('NOT tag:WORK'), [3, 4])
    assert.deepEqual(await notes.notes('NOT tag:work,q2'), [3, 1, 4])
    assert.deepEqual(await notes.notes('NOT tag:q1 NOT tag:q2'), [3, 4])
    assert.deepEqual(await notes.notes('tag:work NOT tag:q2'), [1])
    assert.deepEqual((await notes.notes('shared NOT tag:q1')).toSorted(), [2, 3])
    assert.deepEqual((await notes.notes('shared NOT (tag:q1)')).toSorted(), [2, 3])
    assert.deepEqual(await notes.notes('NOT tag:work', { after: 300 }), [3])
    assert.deepEqual(await notes.notes('shared NOT tag:q1', metadata({ tags: 'work' })), [2])
    const parts = await notes.text('shared NOT tag:q1', { kinds: ['observation'] })
    assert.deepEqual([parts.rows.map(({ noteId }) => noteId), parts.total, parts.isExact], [[2], 1, true])
    const passing = await filterNotes(notes.db, notes.project, [1, 2, 3, 4], { withoutTags: [['q1'], ['q2']] })
    assert.deepEqual([...passing].sort(), [3, 4])
  })

  test('a pattern of permalinks means its stars only', async () => {
    const matching = async (pattern: string, filters = {}) =>
      (await notes.find({ mode: 'permalink_match', pattern }, { kinds: ['note'], ...filters })).rows.map(
        ({ noteId }) => noteId,
      )
    assert.deepEqual(await matching('main/plans/*'), [2, 1])
    assert.deepEqual(await matching('plans/*'), [2, 1])
    assert.deepEqual(await matching('*_1'), [3])
    assert.deepEqual(await matching('main/bare_1'), [3])
    assert.deepEqual(await matching('main/bare*1'), [4, 3])
    assert.deepEqual(await matching('*'), [4, 3, 2, 1])
    assert.deepEqual(await matching('*pl*n'), [1])
    assert.deepEqual(await matching('%'), [])
    assert.deepEqual(await matching('main/[bp]*'), [])
    assert.deepEqual(await matching('*', { after: 300 }), [2, 3, 1])
    assert.deepEqual(await matching('*', { kinds: ['observation'] }), [2, 1, 1])
    assert.deepEqual(await matching('*', { kinds: ['relation'] }), [])
    assert.deepEqual(await matching(`${'*a'.repeat(200)}*`), [])
  })
})

eachDatabase('filters of a search in any Unicode form', (context) => {
  const [COMPOSED, DECOMPOSED] = ['\u00dcbung', 'U\u0308bung']
  let notes: SearchedNotes
  before(async () => {
    notes = await SearchedNotes.open(await context.open())
    const draft = (id: number, name: string) => ({
      id,
      title: `Note ${id}`,
      body: `shared\n\n- [${name}] shared fact\n`,
      metadata: { status: name, tags: [name, 'Alpha'], place: { name } },
      type: canonicalType(name),
      updatedAt: 100 * id,
    })
    await notes.add([draft(1, COMPOSED), draft(2, DECOMPOSED), draft(3, 'Ubung')])
  })

  for (const name of [COMPOSED, DECOMPOSED]) {
    const form = name === COMPOSED ? 'composed' : 'decomposed'
    const FILTERS: [member: string, filters: SearchFilters][] = [
      ['tags', { tags: [name] }],
      ['tags with a #', { tags: [`#${name.toLowerCase()}`, '#alpha'] }],
      ['note types', { noteTypes: [name] }],
      ['status', { status: name }],
      ['a value', { metadata: parseMetadataFilters({ status: name }) }],
      ['all values', { metadata: parseMetadataFilters({ tags: [name, 'alpha'] }) }],
      ['one of some values', { metadata: parseMetadataFilters({ 'place.name': { $in: ['x', name] } }) }],
      ['a range', { metadata: parseMetadataFilters({ 'place.name': { $between: [name, name] } }) }],
    ]
    for (const [member, filters] of FILTERS) {
      test(`${member}, ${form}: every note that has it is found`, async () => {
        const { rows } = await notes.find({ mode: 'none' }, { kinds: ['note'], ...filters })
        assert.deepEqual(
          rows.map(({ noteId }) => noteId),
          [2, 1],
        )
        assert.deepEqual((await notes.notes('shared', filters)).toSorted(), [1, 2])
        assert.deepEqual([...(await filterNotes(notes.db, notes.project, [1, 2, 3], filters))].toSorted(), [1, 2])
      })
    }

    test(`categories, ${form}: every observation that has it is found`, async () => {
      const { rows } = await notes.text('shared', { categories: [name] })
      assert.deepEqual(rows.map(({ noteId, kind }) => `${noteId} ${kind}`).sort(), ['1 observation', '2 observation'])
    })

    test(`tag: in a question, ${form}: every note that has it is found`, async () => {
      assert.deepEqual(await notes.notes(`tag:${name}`), [2, 1])
      assert.deepEqual(await notes.notes(`tag:#${name},#alpha`), [2, 1])
    })
  }
})
