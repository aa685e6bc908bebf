import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { SearchFilters } from '../../src/knowledge/search/filter/filters.ts'
import { parseMetadataFilters } from '../../src/knowledge/search/filter/metadata-filter.ts'
import { filterNotes } from '../../src/knowledge/search/find/find-rows.ts'
import type { RowKind } from '../../src/knowledge/search/row-number.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type Draft, SearchedNotes } from './knowledge-search-notes.ts'

const VALUES = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`key${at}`, `value ${at}`]))
const PARTS = 700
const BULKY_PARTS = Array.from({ length: PARTS }, (_, at) => `- [fact] shared ${at}\n`).join('')
const PLAIN_PARTS = '- [fact] shared 0\n- [idea] shared 1\n- uses [[Shared]]\n'

// The odd ones have more parts and values than are repeated in each row.
const DRAFTS: Draft[] = [
  { id: 1, body: BULKY_PARTS, metadata: { ...VALUES, status: 'draft', priority: 9, tags: ['red', 'blue'] } },
  { id: 2, body: PLAIN_PARTS, metadata: { status: 'draft', priority: 3, tags: ['red'] } },
  { id: 3, body: `${BULKY_PARTS}${PLAIN_PARTS}`, metadata: { ...VALUES, status: 'done', tags: ['red'] }, type: 'book' },
  { id: 4, body: PLAIN_PARTS, metadata: { ...VALUES, status: 'done', priority: 9 }, type: 'book' },
  { id: 5, body: BULKY_PARTS, metadata: VALUES },
  { id: 6, body: PLAIN_PARTS },
]
const ALL_KINDS: RowKind[] = ['note', 'observation', 'relation']
/** How many rows of each kind a note has with the word. */
const ROWS: Record<number, Record<RowKind, number>> = {
  1: { note: 1, observation: PARTS, relation: 0 },
  2: { note: 1, observation: 2, relation: 1 },
  3: { note: 1, observation: PARTS + 1, relation: 1 },
  4: { note: 1, observation: 2, relation: 1 },
  5: { note: 1, observation: PARTS, relation: 0 },
  6: { note: 1, observation: 2, relation: 1 },
}

eachDatabase('a note with many parts and much to filter by', (context) => {
  let notes: SearchedNotes
  before(async () => {
    const db = await context.open()
    notes = await SearchedNotes.open(db)
    await notes.add(DRAFTS)
    const other = await SearchedNotes.open(db, 'other')
    await other.add([{ id: 7, body: BULKY_PARTS, metadata: { ...VALUES, status: 'draft' } }])
  })

  const metadata = (value: unknown): SearchFilters => ({ metadata: parseMetadataFilters(value) })
  const FILTERS: [promise: string, filters: SearchFilters][] = [
    ['no filter', {}],
    ['a value', metadata({ status: 'draft' })],
    ['one of some values', metadata({ status: { $in: ['draft', 'done'] } })],
    ['a value that only such notes have', metadata({ key7: 'value 7' })],
    ['a range', metadata({ priority: { $gt: 5 } })],
    ['a range and a value', metadata({ priority: { $gt: 5 }, status: 'draft' })],
    ['all of some tags', { tags: ['red', 'blue'] }],
    ['not a tag', { withoutTags: [['red']] }],
    ['not both of two tags', { withoutTags: [['red', 'blue']] }],
    ['a status and not a tag', { status: 'draft', withoutTags: [['blue']] }],
    ['a type', { noteTypes: ['book'] }],
    ['a type and a status', { noteTypes: ['book'], status: 'done' }],
    ['a time', { after: 1_003, status: 'done' }],
    ['nothing that any has', { status: 'nope' }],
  ]
  for (const [promise, filters] of FILTERS) {
    test(`is found with its parts by ${promise}, as others are`, async () => {
      const passing = await filterNotes(notes.db, notes.project, Object.keys(ROWS).map(Number), filters)
      for (const kinds of [ALL_KINDS, ['observation'], ['note', 'relation']] satisfies RowKind[][]) {
        const expected = [...passing].flatMap((id) => kinds.map((kind) => [`${kind} of ${id}`, ROWS[id]?.[kind] ?? 0]))
        const asked = { ...filters, ...(kinds !== ALL_KINDS && { kinds }) }
        for (const found of [await notes.text('shared', asked), await notes.find({ mode: 'none' }, asked)]) {
          const counts = Object.groupBy(found.rows, ({ kind, noteId }) => `${kind} of ${noteId}`)
          assert.deepEqual(
            Object.fromEntries(Object.entries(counts).map(([what, rows = []]) => [what, rows.length])),
            Object.fromEntries(expected.filter(([, count]) => count !== 0)),
          )
          assert.deepEqual([found.total, found.isExact], [found.rows.length, true])
        }
      }
    })
  }

  test('is found by the category of its parts, too', async () => {
    const ideas = await notes.find({ mode: 'none' }, { categories: ['idea'], status: 'done' })
    assert.deepEqual(
      ideas.rows.map(({ noteId }) => noteId),
      [4, 3],
    )
  })
})
