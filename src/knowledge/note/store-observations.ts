import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'
import type { ParsedBody } from '../text/body/parse-body.ts'

export type Observation = ParsedBody['observations'][number]
type Row = Omit<Observation, 'tags'> & { noteId: number; position: number; tags: string }
export type StoredObservation = Omit<Observation, 'tags'> & { position: number; tags: string }

const insertRow = statement<Row>((query, p) =>
  query.insertInto('observations').values({
    note_id: p('noteId'),
    position: p('position'),
    category: p('category'),
    content: p('content'),
    context: p('context'),
    tags: p('tags'),
  }),
)

const insertRows = statement<{ noteId: number; rows: string }>(
  (_query, p) => sql`
    insert into observations (note_id, position, category, content, context, tags)
    select ${p('noteId')}::bigint, (value ->> 'position')::int, value ->> 'category', value ->> 'content',
      value ->> 'context', value ->> 'tags'
    from json_array_elements(${p('rows')}::json)`,
)

// Of more than these not all are made or compared at once: others have their turn meanwhile.
const AT_ONCE = 5_000
const NOTHING = Promise.resolve()

/** Those from a position on; the ones before it are there already. */
export function insertObservations(
  tx: Transaction,
  noteId: number,
  list: readonly Observation[],
  first = 0,
): Promise<unknown> {
  return list.length - first > AT_ONCE ? insertMany(tx, noteId, list, first) : insertSome(tx, noteId, list, first)
}

async function insertMany(tx: Transaction, noteId: number, list: readonly Observation[], first: number): Promise<void> {
  for (let start = first; start < list.length; start += AT_ONCE) {
    await insertSome(tx, noteId, list, start, start + AT_ONCE)
    await tx.breathe()
  }
}

function insertSome(
  tx: Transaction,
  noteId: number,
  list: readonly Observation[],
  first: number,
  end = list.length,
): Promise<unknown> {
  const rows: Row[] = []
  for (let position = first; position < Math.min(end, list.length); position++) {
    const { category, content, context, tags } = list[position] as Observation
    rows.push({ noteId, position, category, content, context, tags: JSON.stringify(tags) })
  }
  // SQLite inserts ten rows one by one in the time that it needs to read a list of them; PostgreSQL is far away.
  if (tx.engine === 'sqlite') return tx.changeEach(insertRow, rows)
  return rows.length === 0 ? NOTHING : tx.send(insertRows, { noteId, rows: JSON.stringify(rows) })
}

const deleteRows = statement<{ noteId: number; position: number }>((query, p) =>
  query.deleteFrom('observations').where('note_id', '=', p('noteId')).where('position', '>=', p('position')),
)

const lastRow = statement<{ noteId: number }, { last: number | null }>(
  (_query, p) => sql`select max(position) as last from observations where note_id = ${p('noteId')}`,
)

/** Those from a position on; of very many the last ones first: SQLite would take them all away in one go. */
export async function deleteObservations(tx: Transaction, noteId: number, first: number): Promise<void> {
  if (tx.engine === 'sqlite') {
    const [row] = await tx.run(lastRow, { noteId })
    for (let position = (row?.last ?? 0) - AT_ONCE; position > first; position -= AT_ONCE) {
      await tx.send(deleteRows, { noteId, position })
    }
  }
  await tx.send(deleteRows, { noteId, position: first })
}

const fromPosition = statement<{ noteId: number; position: number }, StoredObservation>((query, p) =>
  query
    .selectFrom('observations')
    .select(['position', 'category', 'content', 'context', 'tags'])
    .where('note_id', '=', p('noteId'))
    .where('position', '>=', p('position'))
    .orderBy('position')
    .limit(AT_ONCE),
)

/** Writes from the first difference on: whoever appends a line changes no observation before it. */
export async function replaceObservations(
  tx: Transaction,
  noteId: number,
  list: readonly Observation[],
): Promise<void> {
  for (let position = 0; ; position += AT_ONCE) {
    const stored = await tx.run(fromPosition, { noteId, position })
    const differs = stored.findIndex((row, at) => {
      const other = list[position + at]
      return other === undefined || !isSame(row, other)
    })
    if (differs === -1 && stored.length === AT_ONCE) {
      await tx.breathe()
      continue
    }
    const first = position + (differs === -1 ? stored.length : differs)
    if (differs !== -1) await deleteObservations(tx, noteId, first)
    await insertObservations(tx, noteId, list, first)
    return
  }
}

function isSame(row: StoredObservation, { category, content, context, tags }: Observation): boolean {
  return (
    row.content === content && row.category === category && row.context === context && row.tags === JSON.stringify(tags)
  )
}

/** All of them; of very many some at a time, and others have their turn in between. */
export async function readObservations(
  reader: Reader,
  noteId: number,
  breathe: () => Promise<unknown> = () => nextTurn(),
): Promise<Observation[]> {
  const list: Observation[] = []
  for (;;) {
    const rows = await reader.run(fromPosition, { noteId, position: list.length })
    for (const row of rows) list.push(toObservation(row))
    if (rows.length < AT_ONCE) return list
    await breathe()
  }
}

export function toObservation({ category, content, context, tags }: StoredObservation): Observation {
  return { category, content, context, tags: tags === '[]' ? [] : JSON.parse(tags) }
}
