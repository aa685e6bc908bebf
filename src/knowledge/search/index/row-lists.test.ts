import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowLists } from './row-lists.ts'
import type { SearchRow } from './search-rows.ts'

const partRow = (number: number, body: string): SearchRow => ({
  number,
  title: '',
  tags: '',
  headings: '',
  body,
  place: '',
  scope: 'p1 ko',
})

async function listsOf(rows: Iterable<SearchRow>): Promise<{ lists: unknown[][][]; longest: number; breaths: number }> {
  let [longest, breaths] = [0, 0]
  const lists: unknown[][][] = []
  for await (const list of rowLists(rows, async () => breaths++)) {
    longest = Math.max(longest, list.length)
    lists.push(JSON.parse(list.toString()))
  }
  return { lists, longest, breaths }
}

test('few short rows are one list, and nobody else has a turn', async () => {
  const { lists, breaths } = await listsOf([partRow(1, 'red fish'), partRow(2, 'Über')])
  assert.deepEqual(
    lists.map((list) => list.map(([number, document]) => [number, document])),
    [
      [
        [1, "'=p1' '=ko' 'red':1 'fish':2 "],
        [2, "'=p1' '=ko' 'uber':1 "],
      ],
    ],
  )
  assert.equal(breaths, 0)
  assert.deepEqual((await listsOf([])).lists, [])
})

test('many rows are lists of a bounded size, made one by one, and others have their turn between them', async () => {
  let made = 0
  function* rows(): Generator<SearchRow> {
    for (; made < 20_000; made++) yield partRow(made, `fish number ${made}`)
  }
  for await (const _ of rowLists(rows(), async () => {})) break
  assert.ok(made < 5_000, `${made} rows for the first list`)
  made = 0
  const { lists, longest, breaths } = await listsOf(rows())
  assert.deepEqual(
    lists.flat().map(([number]) => number),
    Array.from({ length: 20_000 }, (_, number) => number),
  )
  assert.ok(longest < 300_000, `${longest} bytes`)
  assert.ok(breaths > 100, `${breaths} turns`)
})

test('others have their turn while a long row is made', async () => {
  const { lists, breaths } = await listsOf([partRow(1, '東京タワー'.repeat(40_000))])
  const [number, , , split, pieces] = lists.flat().flat()
  assert.deepEqual([number, split, Array.isArray(pieces) && pieces.length > 1], [1, 1, true])
  assert.ok(breaths > 100, `${breaths} turns`)
})
