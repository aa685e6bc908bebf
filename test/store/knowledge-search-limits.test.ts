import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { namesOf } from '../../src/knowledge/link/names.ts'
import { insertNames } from '../../src/knowledge/link/store-names.ts'
import type { SearchFilters } from '../../src/knowledge/search/filter/filters.ts'
import { parseMetadataFilters } from '../../src/knowledge/search/filter/metadata-filter.ts'
import { prepareFilters } from '../../src/knowledge/search/filter/passing-notes.ts'
import { type ComparedSearch, comparedRows } from '../../src/knowledge/search/find/compared-rows.ts'
import { findByFilters } from '../../src/knowledge/search/find/find-by-filters.ts'
import { findByTitle } from '../../src/knowledge/search/find/find-by-title.ts'
import { rowsHaving } from '../../src/knowledge/search/find/rows-having.ts'
import { exactExpression } from '../../src/knowledge/search/index/match-expression.ts'
import { matchingRowsOf } from '../../src/knowledge/search/index/store-search-index.ts'
import { parseQuestion } from '../../src/knowledge/search/question/question.ts'
import { rowNumber, rowOf } from '../../src/knowledge/search/row-number.ts'
import { watchedReader } from '../knowledge/watched-reader.ts'
import { eachDatabase } from '../support/each-database.ts'
import { SearchedNotes } from './knowledge-search-notes.ts'

const RECIPES = 30
const LOGS = 60
const ALL = RECIPES + LOGS
const LATER = 10_000
/** Of the recipes the one whose title is the folder of all others. */
const TITLED = 2

/** Few notes, and limits that are as small: what holds beyond them needs no thousands. */
eachDatabase('what is found behind thousands of newer notes', (context) => {
  let notes: SearchedNotes
  before(async () => {
    notes = await SearchedNotes.open(await context.open())
    await notes.add([
      // The first of them was changed last.
      ...Array.from({ length: RECIPES }, (_, n) => ({
        id: 1 + n,
        title: 1 + n === TITLED ? 'Logs' : `Recipe ${1 + n}`,
        body: 'coffee\n\n- [step] boil it\n',
        type: 'recipe',
        metadata: { year: 2014, title: `Recipe ${1 + n}` },
        ...(n === 0 && { updatedAt: LATER }),
      })),
      ...Array.from({ length: LOGS }, (_, n) => ({
        id: 1 + RECIPES + n,
        title: `Entry ${1 + n}`,
        body: 'coffee',
        type: 'log',
        metadata: { year: 2020 },
        permalink: `logs/${n}`,
      })),
    ])
    const names = namesOf({ title: 'Logs', permalink: null, file_path: 'Logs.md' }, [])
    await notes.db.write((tx) => insertNames(tx, { projectId: notes.project.id, noteId: TITLED }, names))
  })

  const year = (condition: unknown): SearchFilters => ({ metadata: parseMetadataFilters({ year: condition }) })
  const recipeRows = (ids: readonly number[]) =>
    ids.flatMap((id) => [rowNumber('note', id, 0), rowNumber('observation', id, 0)])
  const downTo = (first: number, last: number) => Array.from({ length: first - last + 1 }, (_, n) => first - n)

  test('is found by filters, in pages without gaps or repetitions', async () => {
    const limits = { rows: 40, notes: 20, comparedNotes: 20 }
    const expected = recipeRows([1, ...downTo(RECIPES, 2)]).slice(0, limits.rows)
    for (const wanted of [1, 2, 3, 30, 40, 41]) {
      const found = await findByFilters(notes.db, notes.project, { filters: { noteTypes: ['recipe'] }, wanted, limits })
      assert.deepEqual(found.numbers.slice(0, wanted), expected.slice(0, wanted))
      assert.deepEqual([found.total, found.isExact], [limits.rows, false])
    }
  })

  test('is found by filters for which each note is compared, as far as that goes', async () => {
    const recipes = recipeRows([1, ...downTo(RECIPES, 2)])
    const steps = recipes.filter((number) => rowOf(number).kind === 'observation')
    const asked: [SearchFilters, rows: number, expected: number[]][] = [
      [year({ $lte: 2014 }), recipes.length + 1, recipes],
      [{ ...year({ $lte: 2014 }), kinds: ['observation'] }, steps.length - 1, steps],
      [{ metadata: parseMetadataFilters({ title: 'Recipe 5' }) }, 20, recipeRows([5])],
      [{ after: LATER, noteTypes: ['recipe'] }, 20, recipeRows([1])],
    ]
    for (const [filters, rows, expected] of asked) {
      const limits = { rows, notes: 5, comparedNotes: ALL + 1 }
      const { numbers, total, isExact } = await findByFilters(notes.db, notes.project, { filters, wanted: 100, limits })
      assert.deepEqual([numbers, total, isExact], [expected, expected.length, true])
    }
  })

  test('is said not to be all, where not everything was compared', async () => {
    const limits = { rows: 20, notes: 20, comparedNotes: 40 }
    const found = await findByFilters(notes.db, notes.project, { filters: year({ $lte: 2014 }), wanted: 10, limits })
    assert.deepEqual(
      [found.numbers.map((number) => rowOf(number).noteId), found.total, found.isExact],
      [[1, 1], 2, false],
    )
  })

  test('is found by filters however long before 1970 it was changed', async () => {
    const old = await SearchedNotes.open(notes.db, 'old')
    await old.add([{ id: 1_011 }, { id: 1_012, updatedAt: -1 }, { id: 1_013, updatedAt: Number.MIN_SAFE_INTEGER }])
    const limits = { rows: 2, notes: 10, comparedNotes: 10 }
    const found = await findByFilters(old.db, old.project, { filters: { noteTypes: ['note'] }, wanted: 10, limits })
    assert.deepEqual([idsOf(found.numbers), found.total, found.isExact], [[1_011, 1_012, 1_013], 3, true])
  })

  test('is found by filters of a long note in parts, in their order', async () => {
    const { db } = notes
    const long = await SearchedNotes.open(db, 'long')
    const facts = Array.from({ length: 5_500 }, (_, n) => `- [fact] ${n} ${'x'.repeat(40)}\n`)
    await long.add([{ id: 1_001, body: facts.join('') }, { id: 1_002 }])
    const answered: number[] = []
    const run: typeof db.run = async (statement, input) => {
      const rows = await db.run(statement, input)
      answered.push(rows.length)
      return rows
    }
    const reader = { engine: db.engine, query: db.query, run }
    const limits = { rows: 1_000, notes: 10, comparedNotes: 10 }
    const { numbers } = await findByFilters(reader, long.project, {
      filters: { noteTypes: ['note'] },
      wanted: 10,
      limits,
    })
    const observations = facts.map((_, position) => rowNumber('observation', 1_001, position))
    assert.deepEqual(numbers, [rowNumber('note', 1_002, 0), rowNumber('note', 1_001, 0), ...observations])
    if (db.engine === 'sqlite') assert.ok(Math.max(...answered) <= 5_001)
  })

  const compared = (filters: SearchFilters): ComparedSearch => {
    const { db: reader, project } = notes
    const expression = exactExpression(
      reader.engine,
      { projectId: project.id, isOnlyProject: false, scope: [] },
      'coffee',
    )
    return { reader, project, expression, filters, prepared: prepareFilters(filters) }
  }
  const idsOf = (numbers: readonly number[]) => numbers.map((number) => rowOf(number).noteId)

  test('is found by a word that newer notes have as well, and a filter for which each note is compared', async () => {
    const limits = { rows: 20, allRows: 100, notes: 0, lookedUp: 0 }
    const some = await comparedRows(compared(year({ $lte: 2014 })), 10, limits)
    assert.deepEqual([idsOf(some.numbers), some.isExact], [downTo(RECIPES, 11), false])
    assert.equal(some.comparedTo, rowNumber('note', 11, 0))
    const all = await comparedRows(compared(year({ $lte: 2014 })), 20, limits)
    assert.deepEqual([idsOf(all.numbers), all.isExact, all.comparedTo], [downTo(RECIPES, 1), true, null])
    const none = await comparedRows(compared(year({ $lte: 2014 })), 10, { ...limits, allRows: LOGS })
    assert.deepEqual([none.numbers, none.total, none.isExact], [[], 0, false])
  })

  test('is found by a word and the time of a late change', async () => {
    const limits = { rows: 20, allRows: 20, notes: ALL + 1, lookedUp: 1 }
    const late = await comparedRows(compared({ after: LATER }), 10, limits)
    assert.deepEqual([idsOf(late.numbers), late.isExact], [[1], true])
    assert.equal(late.changedAt?.get(late.numbers[0] as number), LATER)
  })

  test('is found by a word and a time since which most notes were changed, the last changed first', async () => {
    const limits = { rows: 20, allRows: ALL + 20, notes: ALL + 1, lookedUp: 0 }
    const all = await comparedRows(compared({ after: 1 }), ALL, limits)
    assert.deepEqual([new Set(idsOf(all.numbers)), all.isExact], [new Set(downTo(ALL, 1)), true])
    // Of the last page that is read the last note may not be all there.
    const some = await comparedRows(compared({ after: 1 }), ALL, { ...limits, allRows: 40, lookedUp: 5 })
    assert.deepEqual([new Set(idsOf(some.numbers)), some.isExact], [new Set([1, ...downTo(ALL, ALL - 42)]), false])
  })

  test('is looked up in single notes', async () => {
    const { reader, expression } = compared({})
    assert.deepEqual(idsOf(await matchingRowsOf(reader, expression, [3, 7, 40])), [40, 7, 3])
    assert.deepEqual(await matchingRowsOf(reader, expression, []), [])
  })

  test('is looked up in one look where all that begins with a word is collected for each, which takes long', async () => {
    const { expression } = compared({})
    if (notes.db.engine === 'postgres') return
    const { reader, statements } = watchedReader(notes.db)
    const ids = [3, 7, 40, ...downTo(30, 8)]
    const found = await matchingRowsOf(reader, `(${expression}) NOT ("tea" *)`, ids)
    assert.deepEqual(
      found,
      [40, ...downTo(30, 7), 3].map((id) => rowNumber('note', id, 0)),
    )
    assert.equal(statements.length, 1)
  })

  const titled = (text: string, wanted: number, filters: SearchFilters = {}, allRows = 100) =>
    findByTitle(notes.db, notes.project, {
      text,
      filters: { kinds: ['note'], ...filters },
      wanted,
      limits: { rows: 20, allRows },
    })

  test('is found by its exact title, although newer notes are called so otherwise', async () => {
    for (const allRows of [20, 40, 100]) {
      const { numbers, isExact } = await titled('Logs', 10, {}, allRows)
      assert.deepEqual([idsOf(numbers), isExact], [[TITLED], allRows > LOGS])
    }
  })

  test('is found by its title in pages without gaps or repetitions, the best first', async () => {
    for (const wanted of [1, 20, 21, 41, LOGS, LOGS + 1]) {
      const { numbers, scores, total, isExact } = await titled('entry', wanted)
      const isWhole = wanted > 40
      assert.deepEqual(
        [idsOf(numbers), isExact],
        [downTo(ALL, isWhole ? RECIPES + 1 : ALL + 1 - 20 * Math.ceil(wanted / 20)), isWhole],
      )
      assert.equal(total, numbers.length)
      const inOrder = numbers.map((number) => scores.get(number) as number)
      assert.deepEqual(
        inOrder,
        inOrder.toSorted((one, other) => other - one),
      )
    }
  })

  test('is found by its title and the time of a late change', async () => {
    assert.deepEqual(idsOf((await titled('recipe', 1, { after: 1 })).numbers), [1, ...downTo(RECIPES, 3)])
  })
})

eachDatabase('of many notes whatever lacks what begins with a letter', (context) => {
  test('is looked up in one look, where that is collected for each', {
    skip: context.engine === 'postgres' && 'it collects nothing',
  }, async () => {
    const notes = await SearchedNotes.open(await context.open())
    const words = Array.from({ length: 40 }, (_, n) => `t${n}`)
    await notes.add([
      ...downFrom(20).map((id) => ({ id, title: `Cup ${id}`, body: 'coffee' })),
      { id: 21, title: 'Tea', body: `coffee ${words.join(' ')}` },
    ])
    const { reader, statements } = watchedReader(notes.db)
    const { tree } = parseQuestion('coffee NOT t')
    assert.ok(tree)
    const limits = { rows: 1, allRows: 5, notes: 100, lookedUp: 2 }
    const found = await rowsHaving(reader, notes.project, tree, downFrom(21), limits)
    assert.deepEqual(
      [...found].sort((one, other) => other - one),
      downFrom(20).map((id) => rowNumber('note', id, 0)),
    )
    const looks = statements.filter(({ sql: text }) => text.includes('s.rowid between'))
    assert.equal(looks.length, 1)
  })
})

function downFrom(id: number): number[] {
  return Array.from({ length: id }, (_, n) => id - n)
}
