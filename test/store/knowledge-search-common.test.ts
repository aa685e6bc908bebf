import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { CompiledQuery, type RawBuilder, sql } from 'kysely'
import { namesOf } from '../../src/knowledge/link/names.ts'
import { insertNames } from '../../src/knowledge/link/store-names.ts'
import { noteTally } from '../../src/knowledge/project/note-tally.ts'
import type { SearchFilters } from '../../src/knowledge/search/filter/filters.ts'
import { parseMetadataFilters } from '../../src/knowledge/search/filter/metadata-filter.ts'
import { wordStatistics } from '../../src/knowledge/search/find/word-statistics.ts'
import { formExpression, matchExpression } from '../../src/knowledge/search/index/match-expression.ts'
import { writeOutdatedRows } from '../../src/knowledge/search/index/outdated-rows.ts'
import { matchingInOrder, newestFirst, withinOnPostgres } from '../../src/knowledge/search/index/store-search-index.ts'
import { parseQuestion, wordTerm } from '../../src/knowledge/search/question/question.ts'
import { rowRange } from '../../src/knowledge/search/row-number.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { addToTally } from '../../src/platform/tally/store.ts'
import { eachDatabase } from '../support/each-database.ts'
import { insertPlainNote, plainNote } from '../support/plain-notes.ts'
import { SearchedNotes } from './knowledge-search-notes.ts'

const MANY = 10_500
const FIRST = 200
const TITLED = 150

/** So many notes that say the same, as one statement each; SQLite's index reads them by itself when it starts. */
async function addMany(notes: SearchedNotes): Promise<void> {
  const { db, project } = notes
  const { content: _, ...like } = plainNote(project, FIRST, {
    title: 'Plain sheet',
    permalink: null,
    // The index has no word for it: each note is compared.
    metadata: '{"title":"Plain sheet"}',
  })
  await db.write((tx) => insertPlainNote(tx, { ...like, content: 'common words' }))
  const columns = Object.keys(like).filter((key) => !['id', 'external_id', 'file_path'].includes(key))
  await db.write(async (tx) => {
    await sql`
      with recursive series (n) as (select 1 union all select n + 1 from series where n < ${sql.lit(MANY)})
      insert into notes (id, external_id, file_path, ${sql.join(columns.map((column) => sql.ref(column)))})
      select ${sql.lit(FIRST)} + n, 'e' || n, 'f' || n, ${sql.join(columns.map((column) => sql.ref(column)))}
      from notes, series where id = ${FIRST}`.execute(tx.query)
    await sql`insert into note_contents (note_id, content) select id, 'common words' from notes where id > ${FIRST}`.execute(
      tx.query,
    )
    await addToTally(tx, noteTally(project.id), MANY)
    if (db.engine === 'postgres') {
      const rows = rowRange(1).first
      await sql`
        insert into note_search (id, document, words)
        select id * ${sql.lit(rows)}, ('''common'':3 ''words'':4 ''+word'' ''plain'':1 ''sheet'':2 ''=kn'' ''=tnote'' ''=p' || project_id
          || ''' ''=n' || project_id || 'nplain''')::tsvector, '\\x00000000'
        from notes where id > ${sql.lit(FIRST)}`.execute(tx.query)
    }
  })
}

eachDatabase('a word that is in almost every note', (context) => {
  let notes: SearchedNotes
  before(async () => {
    notes = await SearchedNotes.open(await context.open())
    await addMany(notes)
    await notes.add([
      { id: 1, title: 'Common', body: 'the oldest', type: 'essay' },
      { id: 2, title: 'Second', body: 'common and exceptional' },
      { id: 3, title: 'Third', body: 'common and regular' },
      { id: TITLED, title: 'Plain', body: 'sheets' },
      ...Array.from({ length: 120 }, (_, n) => ({ id: 4 + n, title: `Early ${n}`, body: 'regular' })),
    ])
    const names = namesOf({ title: 'Plain', permalink: null, file_path: 'Plain.md' }, [])
    await notes.db.write((tx) => insertNames(tx, { projectId: notes.project.id, noteId: TITLED }, names))
    if (notes.db.engine === 'postgres') {
      // The first of the many, which was written as a bare row.
      assert.equal(await writeOutdatedRows(notes.db), 1)
      assert.equal(await writeOutdatedRows(notes.db), 0)
      await notes.db.write((tx) => sql`analyze note_search`.execute(tx.query))
    }
  })

  test('is not counted to the end, and the answer says so', async () => {
    const { rows, total, isExact } = await notes.text('common', {}, { limit: 10, offset: 0 })
    assert.deepEqual([rows.length, total, isExact], [10, 10_000, false])
  })

  test('still finds first what is called so', async () => {
    const { rows } = await notes.text('common', {}, { limit: 2, offset: 0 })
    assert.deepEqual(
      rows.map(({ noteId }) => noteId),
      [1, FIRST + MANY],
    )
  })

  test('still finds first what is called just so, where thousands of newer ones have it in their titles', async () => {
    const page = { limit: 2, offset: 0 }
    const { rows, total, isExact } = await notes.text('plain', {}, page)
    assert.deepEqual([rows[0]?.noteId, total, isExact], [TITLED, 10_000, false])
    const titled = await notes.find({ mode: 'title', text: 'Plain' }, {}, page)
    assert.equal(titled.rows[0]?.noteId, TITLED)
    const filter = { metadata: parseMetadataFilters({ year: { $gt: 2_000 } }) }
    assert.deepEqual((await notes.text('plain', filter, page)).rows, [])
  })

  test('finds nothing that the question or a filter refuses, however it is called and whatever else it says', async () => {
    const page = { limit: 1, offset: 0 }
    const compared = { metadata: parseMetadataFilters({ title: 'Plain sheet' }) }
    const asked: [text: string, filters: SearchFilters][] = [
      ['common NOT oldest', {}],
      ['common', { noteTypes: ['note'] }],
      ['common', compared],
      ['plain', compared],
      ['common OR exceptional', compared],
    ]
    for (const [text, filters] of asked) {
      const { rows } = await notes.text(text, filters, page)
      assert.deepEqual([rows.length, rows[0]?.noteId], [1, FIRST + MANY], text)
    }
  })

  test('does not hide what has a rare word', async () => {
    const { rows } = await notes.text('common OR exceptional', {}, { limit: 1, offset: 0 })
    assert.equal(rows[0]?.noteId, 2)
    const { rows: both, total } = await notes.text('common exceptional')
    assert.deepEqual([both[0]?.noteId, total], [2, 1])
  })

  test('does not hide what has another common word besides', async () => {
    const { rows } = await notes.text('common OR regular', {}, { limit: 1, offset: 0 })
    assert.equal(rows[0]?.noteId, 3)
  })

  test('has pages without gaps or repetitions, far behind what is ranked', async () => {
    const seen = new Set<number>()
    for (let offset = 900; offset < 1_200; offset += 100) {
      const { rows } = await notes.text('common', {}, { limit: 100, offset })
      for (const { noteId } of rows) seen.add(noteId)
    }
    assert.equal(seen.size, 300)
  })

  test('is known to be common without reading all of its rows', async () => {
    for (const isOnly of [true, false]) {
      const words = ['common', 'exceptional', 'nowhere']
      const { common, holding } = await wordStatistics(notes.db, notes.project, words, isOnly)
      assert.deepEqual([...common], ['common'])
      assert.deepEqual([holding.get('exceptional'), holding.get('nowhere')], [1, 0])
      assert.ok((holding.get('common') as number) > MANY * 0.9)
    }
  })

  test('is told from what is known already, and only the rest is read', async () => {
    const known = await wordStatistics(notes.db, notes.project, ['common'], true)
    const both = await wordStatistics(notes.db, notes.project, ['common', 'exceptional'], true, known)
    assert.deepEqual(both, await wordStatistics(notes.db, notes.project, ['common', 'exceptional'], true))
    assert.equal(await wordStatistics(notes.db, notes.project, ['common'], true, both), both)
  })

  test('is read from the newest row backwards, up to the limit', async () => {
    const { engine } = notes.db
    const scope = { projectId: notes.project.id, isOnlyProject: false, scope: [] }
    const input = { ...scope, beginnings: new Map(), common: new Set(['common']), notes: MANY }
    const expressions = [
      matchExpression(engine, { ...input, tree: wordTerm('common') }),
      matchExpression(engine, { ...input, tree: parseQuestion('common NOT exceptional').tree as never }),
      formExpression(engine, scope, 'common'),
    ]
    for (const expression of expressions) {
      const plan = await planOf(notes.db, expression)
      if (engine === 'sqlite') assert.doesNotMatch(plan, /TEMP B-TREE/)
      else {
        assert.match(plan, /Index Scan Backward using note_search_pkey/)
        assert.doesNotMatch(plan, /Bitmap|Sort/)
        const withSplit = await planOf(notes.db, expression, matchingInOrder(expression, 1_001))
        assert.match(withSplit, /Index Scan Backward using note_search_pkey/)
      }
    }
  })

  if (context.engine === 'postgres') {
    test('is looked up in some notes without reading others', async () => {
      const scope = { projectId: notes.project.id, isOnlyProject: true, scope: [] }
      const plan = await planOf(notes.db, '', withinOnPostgres(formExpression('postgres', scope, 'common'), [1, 2]))
      assert.match(plan, /Index Scan using note_search_pkey on note_search one.*\n +Index Cond/)
      assert.doesNotMatch(plan, /Backward|Bitmap|Seq Scan/)
    })

    test('is looked for in long notes without reading others', async () => {
      const scope = { projectId: notes.project.id, isOnlyProject: true, scope: [] }
      const input = { ...scope, beginnings: new Map(), common: new Set<string>(), notes: MANY }
      for (const text of ['common', '"common words"', 'common NOT "common words"']) {
        const expression = matchExpression('postgres', { ...input, tree: parseQuestion(text).tree as never })
        for (const limit of [1, 1_001]) {
          const plan = await planOf(notes.db, expression, matchingInOrder(expression, limit))
          const [possible = ''] = /CTE possible.*Subquery Scan/s.exec(plan) ?? []
          assert.match(possible, /Index (Only )?Scan using note_search_split/)
          assert.doesNotMatch(possible, /Seq Scan|note_search_pkey/)
        }
      }
    })
  }
})

async function planOf(
  db: Database,
  expression: string,
  query: RawBuilder<unknown> = newestFirst(db.engine, expression, 1_001),
): Promise<string> {
  const explain = db.engine === 'sqlite' ? sql`explain query plan ` : sql`explain `
  const { sql: text, parameters } = sql`${explain}${query}`.compile(db.query)
  const { rows } = await db.query.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, [...parameters]))
  return rows.map((row) => row.detail ?? row['QUERY PLAN']).join('\n')
}
