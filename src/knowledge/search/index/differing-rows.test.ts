import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { differingRows } from './differing-rows.ts'
import type { SearchRow } from './search-rows.ts'

const text = fc.constantFrom('', 'red', 'blue')
// An object with a prototype and one without are never equal to `assert`.
const row: fc.Arbitrary<SearchRow> = fc.record(
  {
    number: fc.nat({ max: 30 }),
    title: text,
    tags: text,
    headings: text,
    body: text,
    place: text,
    scope: text,
  },
  { noNullPrototype: true },
)
const rows = fc
  .uniqueArray(row, { selector: ({ number }) => number, maxLength: 20 })
  .map((list) => list.sort((a, b) => a.number - b.number))

test('putting what differs and taking away what is gone makes the rows of any text those of any other', async () => {
  await fc.assert(
    fc.asyncProperty(rows, rows, fc.boolean(), async (before, others, isEdit) => {
      // Most rows of an edited text are as they were.
      const after = isEdit ? merged(before, others.slice(0, 3)) : others
      const stored = new Map(before.map((each) => [each.number, each]))
      const gone: number[] = []
      for await (const each of differingRows(before, after, { gone, breathe: async () => {} })) {
        assert.notDeepEqual(stored.get(each.number), each)
        stored.set(each.number, each)
      }
      for (const number of gone) assert.ok(stored.delete(number))
      assert.deepEqual(merged([...stored.values()], []), after)
    }),
  )
})

test('others have their turn while very many rows are compared', async () => {
  const many = Array.from({ length: 5_000 }, (_, number) => ({ ...EMPTY, number }))
  let breaths = 0
  const breathe = async () => breaths++
  for (const [before, after] of [
    [many, many],
    [many, []],
  ]) {
    breaths = 0
    for await (const _ of differingRows(before as SearchRow[], after as SearchRow[], { gone: [], breathe }));
    assert.ok(breaths >= 10)
  }
})

const EMPTY = { title: '', tags: '', headings: '', body: '', place: '', scope: '' }

function merged(some: readonly SearchRow[], others: readonly SearchRow[]): SearchRow[] {
  const all = new Map([...some, ...others].map((each) => [each.number, each]))
  return [...all.values()].sort((a, b) => a.number - b.number)
}
