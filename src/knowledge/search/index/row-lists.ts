import type { Steps } from '../../text/steps.ts'
import { rowDocument, SPLIT } from './row-document.ts'
import type { SearchRow } from './search-rows.ts'

// One statement inserts as many rows as fill this; a long one has a statement for itself, whatever its size.
const LIST_BYTES = 262_144
// What rows are made from that are made at once, in characters: a few milliseconds. A short one takes as long as so many.
const AT_ONCE = 8_000
const LEAST_SIZE = 50

/**
 * What PostgreSQL keeps of rows, as JSON lists of `[number, document, words, split, pieces]`; the last two only where a row is split. Others
 * have their turn between them, and while a long one is made. As bytes: a text of many megabytes would be read once more to be sent.
 */
export async function* rowLists(
  rows: Iterable<SearchRow> | AsyncIterable<SearchRow>,
  breathe: () => Promise<unknown>,
): AsyncGenerator<Buffer> {
  let list: Buffer[] = []
  let bytes = 0
  let size = 0
  for await (const row of rows) {
    const steps = rowBytes(row)
    let step = steps.next()
    for (; !step.done; step = steps.next()) await breathe()
    list.push(list.length === 0 ? OPEN : COMMA, ...step.value)
    for (const part of step.value) bytes += part.length
    size += LEAST_SIZE + row.body.length + row.scope.length
    if (bytes >= LIST_BYTES) {
      yield Buffer.concat([...list, CLOSE])
      list = []
      bytes = 0
    }
    if (size >= AT_ONCE) {
      size = 0
      await breathe()
    }
  }
  if (list.length > 0) yield Buffer.concat([...list, CLOSE])
}

const [OPEN, COMMA, CLOSE] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')]

function* rowBytes(row: SearchRow): Steps<Buffer[]> {
  const { document, words, split, pieces } = yield* rowDocument(row)
  const head = JSON.stringify([row.number, document, Buffer.from(words).toString('base64')])
  if (split === SPLIT.none) return [Buffer.from(head)]
  const bytes = [Buffer.from(`${head.slice(0, -1)},${split},[`)]
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) bytes.push(COMMA)
    bytes.push(Buffer.from(JSON.stringify(piece)))
    yield
  }
  return [...bytes, Buffer.from(']]')]
}
