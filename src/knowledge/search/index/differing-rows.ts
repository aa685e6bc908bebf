import type { SearchRow } from './search-rows.ts'

const COMPARED_AT_ONCE = 500
const TEXTS = ['body', 'scope', 'tags', 'title', 'headings', 'place'] as const satisfies (keyof SearchRow)[]

export interface DifferingRows {
  /** Takes the numbers of those that are no more. */
  gone: number[]
  /** Called now and then: a note may have hundreds of thousands. */
  breathe(): Promise<unknown>
}

/** Which of the rows after a change are new or differ from those before it. Both are given by ascending number. */
export async function* differingRows(
  before: Iterable<SearchRow>,
  after: Iterable<SearchRow>,
  { gone, breathe }: DifferingRows,
): AsyncGenerator<SearchRow> {
  const old = before[Symbol.iterator]()
  let known = old.next()
  let compared = 0
  for (const row of after) {
    for (; !known.done && known.value.number < row.number; known = old.next()) gone.push(known.value.number)
    const isKnown = !known.done && known.value.number === row.number
    if (!isKnown || !isSame(known.value, row)) yield row
    if (isKnown) known = old.next()
    if (++compared % COMPARED_AT_ONCE === 0) await breathe()
  }
  for (; !known.done; known = old.next()) {
    gone.push(known.value.number)
    if (++compared % COMPARED_AT_ONCE === 0) await breathe()
  }
}

function isSame(one: SearchRow, other: SearchRow): boolean {
  return TEXTS.every((text) => one[text] === other[text])
}
