/** Questions to the index of words, the same on both engines. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import type { Engine } from '../../../platform/storage/engine.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import { KINDS, ROW_KINDS, rowRange } from '../row-number.ts'
import { type Beginning, isCollectedEachTime, isSlowlyCollected } from './match-expression.ts'
import { splitRows } from './store-split-rows.ts'

const ROWS_PER_NOTE = rowRange(1).first
// SQLite looks at each of them for each row that it finds; more than these are collected, where that is not slower.
const MOST_BEGINNINGS = 16
// Of all words of a question together.
const MANY_BEGINNINGS = 128

function numberOf(engine: Engine): RawBuilder<number> {
  return sql.raw(engine === 'sqlite' ? 's.rowid' : 's.id')
}

function matches(engine: Engine, expression: string): RawBuilder<boolean> {
  if (engine === 'sqlite') return sql`note_search match ${expression}`
  const isMatching = sql<boolean>`s.document @@ ${expression}::tsquery`
  // NOTE Asked once more of the row itself: while PostgreSQL adds new rows to its index, one word after the other, a word that must not
  // be there may be missing in it. `coalesce` is what the index cannot answer.
  return expression.includes('!') ? sql`(${isMatching} and coalesce(${isMatching}, false))` : isMatching
}

/** Whether row `s` matches, be it split or not. */
function matchesAny(engine: Engine, expression: string): RawBuilder<boolean> {
  const split = engine === 'sqlite' ? null : splitRows(expression)
  if (split === null) return matches(engine, expression)
  return sql`case when ${split.isOther} then ${matches(engine, expression)} else ${split.matches} end`
}

/** A relation that says what an earlier one of its note says is shown nowhere. */
function isNoRepeat(engine: Engine): RawBuilder<boolean> {
  const number = numberOf(engine)
  // NOTE Not `exists`: PostgreSQL would collect all repeats there are before it looks at the first row.
  return sql`(${number} % ${sql.lit(KINDS)} <> ${sql.lit(ROW_KINDS.relation)} or coalesce((
    select r.is_repeat from relations r where r.from_id = ${number} / ${sql.lit(ROWS_PER_NOTE)}
      and r.position = ${number} % ${sql.lit(ROWS_PER_NOTE)} / ${sql.lit(KINDS)}), 0) = 0)`
}

interface Asked {
  expression: string
  limit: number
}

/** Read backwards, and no further than the limit. Without rows that are split: those must be looked at more closely. */
export const newestFirst = (engine: Engine, expression: string, limit: number) => inOrder(engine, expression, limit)

interface Order {
  isOldest?: boolean
  /** Only rows with lower numbers than this. */
  below?: number | undefined
}

function inOrder(
  engine: Engine,
  expression: string,
  limit: number,
  { isOldest = false, below }: Order = {},
): RawBuilder<{ id: number }> {
  const split = engine === 'sqlite' ? null : splitRows(expression)
  return sql`
    select ${numberOf(engine)} as id from note_search s
    where ${matches(engine, expression)} and ${isNoRepeat(engine)} ${split === null ? sql`` : sql`and ${split.isOther}`}
      ${below === undefined ? sql`` : sql`and ${numberOf(engine)} < ${below}`}
    order by ${numberOf(engine)} ${orderOf(isOldest)} limit ${limit}`
}

function orderOf(isOldest: boolean): RawBuilder<unknown> {
  return sql.raw(isOldest ? 'asc' : 'desc')
}

/** PostgreSQL: the numbers of all rows that match, in their order, no more than the limit. */
export function matchingInOrder(expression: string, limit: number, wanted: Order = {}): RawBuilder<{ id: number }> {
  const whole = inOrder('postgres', expression, limit, wanted)
  const split = splitRows(expression)
  if (split === null) return whole
  const { isOldest = false, below } = wanted
  const order = orderOf(isOldest)
  const isBelow = below === undefined ? sql`` : sql`where id < ${below}`
  // NOTE Collected first, whatever the limit: they are few, and read from the end all others would be looked at. Then looked at one by
  // one, no further than the limit.
  return sql`
    select id from ((${whole}) union all (
      with possible as materialized (${split.possible})
      select id from (select id from possible ${isBelow} order by id ${order} offset 0) one
      where (select ${split.matches} and ${isNoRepeat('postgres')} from note_search s where s.id = one.id) limit ${limit}
    )) found order by id ${order} limit ${limit}`
}

const rowsOnSqlite = statement<Asked, { id: number }>((_query, p) => newestFirst('sqlite', p('expression'), p('limit')))
const rowsBelowOnSqlite = statement<Asked & { below: number }, { id: number }>((_query, p) =>
  inOrder('sqlite', p('expression'), p('limit'), { below: p('below') }),
)

/** A look that collects takes long, and a search has several: others get their turn before each. */
async function turnFor(engine: Engine, expression: string): Promise<void> {
  if (engine === 'sqlite' && isCollectedEachTime(expression)) await nextTurn()
}

/**
 * The numbers of rows that match, those of the newest notes first; those before `below`, where that is given.
 * NOTE No prepared statement on PostgreSQL: it plans by the words, whether to read rows from the end or to collect them first.
 */
export async function matchingRows(
  reader: Reader,
  expression: string,
  limit: number,
  below?: number,
): Promise<number[]> {
  await turnFor(reader.engine, expression)
  const rows =
    reader.engine === 'postgres'
      ? (await matchingInOrder(expression, limit, { below }).execute(reader.query)).rows
      : below === undefined
        ? await reader.run(rowsOnSqlite, { expression, limit })
        : await reader.run(rowsBelowOnSqlite, { expression, limit, below })
  return rows.map(({ id }) => id)
}

// SQLite takes milliseconds for each where a word is common: it goes through all that have it, up to the note.
const NOTES_AT_ONCE = 5

const rowsWithinOnSqlite = statement<{ expression: string; ids: string }, { id: number }>((_query, p) =>
  withinOnSqlite(p('expression'), numbersIn('sqlite', p('ids'))),
)

// All of them in one look: it goes through everything that matches, but collects once what begins with a word.
const rowsAmongOnSqlite = statement<{ expression: string; ids: string; first: number; last: number }, { id: number }>(
  (_query, p) => sql`
    select s.rowid as id from note_search s
    where ${matches('sqlite', p('expression'))} and s.rowid between ${p('first')} and ${p('last')}
      and s.rowid / ${sql.lit(ROWS_PER_NOTE)} in ${numbersIn('sqlite', p('ids'))} and ${isNoRepeat('sqlite')}
    order by s.rowid desc`,
)

/** The same within some notes. On SQLite others get their turn between some and the next. */
export async function matchingRowsOf(
  reader: Reader,
  expression: string,
  noteIds: readonly number[],
): Promise<number[]> {
  if (noteIds.length === 0) return []
  if (reader.engine === 'postgres') {
    const { rows } = await withinOnPostgres(expression, noteIds).execute(reader.query)
    return rows.map(({ id }) => id)
  }
  if (isCollectedEachTime(expression)) {
    await turnFor(reader.engine, expression)
    const { first } = rowRange(noteIds.reduce((one, other) => Math.min(one, other)))
    const { last } = rowRange(noteIds.reduce((one, other) => Math.max(one, other)))
    const rows = await reader.run(rowsAmongOnSqlite, { expression, ids: JSON.stringify(noteIds), first, last })
    return rows.map(({ id }) => id)
  }
  const numbers: number[] = []
  for (let from = 0; from < noteIds.length; from += NOTES_AT_ONCE) {
    if (from > 0) await nextTurn()
    const ids = JSON.stringify(noteIds.slice(from, from + NOTES_AT_ONCE))
    for (const { id } of await reader.run(rowsWithinOnSqlite, { expression, ids })) numbers.push(id)
  }
  return numbers.sort((one, other) => other - one)
}

function withinOnSqlite(expression: string, wanted: RawBuilder<number>): RawBuilder<{ id: number }> {
  return sql`
    select s.rowid as id from ${wanted} wanted cross join note_search s
    where s.rowid between wanted.value * ${sql.lit(ROWS_PER_NOTE)} and (wanted.value + 1) * ${sql.lit(ROWS_PER_NOTE)} - 1
      and ${matches('sqlite', expression)} and ${isNoRepeat('sqlite')}
    order by s.rowid desc`
}

export function withinOnPostgres(expression: string, noteIds: readonly number[]): RawBuilder<{ id: number }> {
  return sql`
    select s.id ${fromRowsOf(numbersIn('postgres', JSON.stringify(noteIds)))}
    where ${matchesAny('postgres', expression)} and ${isNoRepeat('postgres')}
    order by s.id desc`
}

/**
 * PostgreSQL: from the rows `s` of these notes.
 * NOTE Without the offset it collects all rows that match, and looks which of them are wanted, or compares all that there are with each note.
 */
function fromRowsOf(wanted: RawBuilder<number>): RawBuilder<unknown> {
  return sql`from ${wanted} wanted (value) cross join lateral (
      select * from note_search one
      where one.id between wanted.value * ${sql.lit(ROWS_PER_NOTE)} and (wanted.value + 1) * ${sql.lit(ROWS_PER_NOTE)} - 1 offset 0
    ) s`
}

const counted = (rows: RawBuilder<unknown>) => sql`select count(*) as count, min(id) as lowest from (${rows}) found`

const countOnSqlite = statement<Asked, Holding>((_query, p) =>
  counted(newestFirst('sqlite', p('expression'), p('limit'))),
)

// Forwards: a third faster than from the end.
const countRowsOnSqlite = statement<Asked, { count: number }>(
  (_query, p) => sql`
    select count(*) as count from (
      select 1 from note_search s
      where ${matches('sqlite', p('expression'))} and ${isNoRepeat('sqlite')} limit ${p('limit')}
    ) found`,
)

/** How many rows match, up to the limit. */
export async function countRows(reader: Reader, expression: string, limit: number): Promise<number> {
  await turnFor(reader.engine, expression)
  const [row] =
    reader.engine === 'sqlite'
      ? await reader.run(countRowsOnSqlite, { expression, limit })
      : (await sql<Holding>`${counted(matchingInOrder(expression, limit))}`.execute(reader.query)).rows
  return row?.count ?? 0
}

export interface Holding {
  /** How many rows match, up to the limit. */
  count: number
  /** The last of those that were counted. */
  lowest: number | null
}

/** One answer for each of the expressions, which is an estimate: rows that are split are left out. */
export async function countEach(reader: Reader, expressions: readonly string[], limit: number): Promise<Holding[]> {
  if (reader.engine === 'sqlite') {
    const answers: Holding[] = []
    for (const expression of expressions) answers.push(...(await reader.run(countOnSqlite, { expression, limit })))
    return answers
  }
  if (expressions.length === 0) return []
  // One way to the server and back.
  const each = expressions.map(
    (expression, place) =>
      sql`select ${sql.lit(place)} as place, one.* from (${counted(newestFirst('postgres', expression, limit))}) one`,
  )
  const { rows } = await sql<Holding & { place: number }>`${sql.join(each, sql` union all `)}`.execute(reader.query)
  return rows.sort((one, other) => one.place - other.place)
}

/** An expression without and with the kind of rows, which is notes. */
export interface AskedNotes {
  anyKind: string
  notes: string
}

const SEEN_PER_NOTE = 3

const countNotesOnSqlite = statement<Asked & { most: number }, Holding & { seen: number }>(
  (_query, p) => sql`
    with newest as materialized (
      select s.rowid as id from note_search s where note_search match ${p('expression')} order by s.rowid desc limit ${p('most')}
    )
    select (select count(*) from newest) as seen, count(*) as count, min(id) as lowest from (
      select id from newest where id % ${sql.lit(KINDS)} = ${sql.lit(ROW_KINDS.note)} order by id desc limit ${p('limit')}
    ) found`,
)

/**
 * The same of notes only. SQLite is several times faster when it need not look up the kind of each row in the index, which the
 * number tells as well; where very many rows are no notes, it has to.
 */
export async function countNotesEach(reader: Reader, asked: readonly AskedNotes[], limit: number): Promise<Holding[]> {
  if (reader.engine !== 'sqlite') {
    return countEach(
      reader,
      asked.map(({ notes }) => notes),
      limit,
    )
  }
  const most = SEEN_PER_NOTE * limit
  const answers: Holding[] = []
  for (const { anyKind, notes } of asked) {
    const [found] = await reader.run(countNotesOnSqlite, { expression: anyKind, limit, most })
    const isWhole = found !== undefined && (found.seen < most || found.count === limit)
    answers.push(...(isWhole ? [found] : await countEach(reader, [notes], limit)))
  }
  return answers
}

/** The number of the first row that matches. */
export async function firstMatching(reader: Reader, expression: string): Promise<number | null> {
  const { engine } = reader
  const number = numberOf(engine)
  const { rows } = await sql<{ id: number }>`
    select ${number} as id from note_search s where ${matches(engine, expression)} order by ${number} limit 1`.execute(
    reader.query,
  )
  return rows[0]?.id ?? null
}

const wordsOfRows = statement<{ ids: string }, { id: number; words: Uint8Array | null }>(
  (_query, p, engine) => sql`
    select id, words from ${sql.raw(engine === 'sqlite' ? 'note_words' : 'note_search')}
    where id in ${numbersIn(engine, p('ids'))}`,
)

/** What `countWords` wrote for these rows. */
export async function rowBytes(reader: Reader, numbers: readonly number[]): Promise<Map<number, Uint8Array>> {
  const rows = numbers.length === 0 ? [] : await reader.run(wordsOfRows, { ids: JSON.stringify(numbers) })
  return new Map(rows.flatMap(({ id, words }) => (words === null ? [] : [[id, words]])))
}

const wordsFrom = statement<{ from: string; limit: number }, { word: string }>(
  (_query, p) => sql`select word from index_words where word >= ${p('from')} order by word limit ${p('limit')}`,
)

/** Among so many notes. SQLite only; PostgreSQL knows beginnings by itself. */
export async function beginningsOf(
  reader: Reader,
  words: Iterable<string>,
  notes: number,
): Promise<Map<string, Beginning>> {
  const found = new Map<string, Beginning>()
  if (reader.engine !== 'sqlite') return found
  const unique = new Set(words)
  const slow = new Set([...unique].filter((word) => isSlowlyCollected(word, notes)))
  for (const word of unique) {
    const most = slow.has(word) ? Math.floor(MANY_BEGINNINGS / slow.size) : MOST_BEGINNINGS
    const rows = await reader.run(wordsFrom, { from: word, limit: most + 1 })
    const own = rows.map((row) => row.word).filter((other) => other.startsWith(word))
    found.set(word, { words: own.slice(0, most), isWhole: own.length <= most })
  }
  return found
}

const rowsOfNotes = statement<{ ids: string }, { id: number }>((_query, p, engine) => {
  const wanted = numbersIn(engine, p('ids'))
  return engine === 'sqlite'
    ? sql`
      select s.rowid as id from ${wanted} wanted cross join note_words s
      where s.rowid between wanted.value * ${sql.lit(ROWS_PER_NOTE)} and (wanted.value + 1) * ${sql.lit(ROWS_PER_NOTE)} - 1
        and ${isNoRepeat(engine)}`
    : sql`select s.id ${fromRowsOf(wanted)} where ${isNoRepeat(engine)}`
})

/** The numbers of all rows of these notes. */
export async function allRowsOf(reader: Reader, noteIds: readonly number[]): Promise<number[]> {
  const rows = noteIds.length === 0 ? [] : await reader.run(rowsOfNotes, { ids: JSON.stringify(noteIds) })
  return rows.map(({ id }) => id)
}

type Numbers = { first: number; last: number }

const lastRow = statement<Numbers, { last: number | null }>(
  (_query, p) => sql`select max(rowid) as last from note_words where rowid between ${p('first')} and ${p('last')}`,
)

const rowsBetween = statement<Numbers, { id: number }>(
  (_query, p) => sql`
    select s.rowid as id from note_words s
    where s.rowid between ${p('first')} and ${p('last')} and ${isNoRepeat('sqlite')} order by s.rowid`,
)

const NUMBERS_AT_ONCE = 5_000 * KINDS

/** SQLite: the numbers of all rows of a note in their order, some at a time: there may be hundreds of thousands. */
export async function* rowsInParts(reader: Reader, noteId: number): AsyncGenerator<number[], undefined> {
  const range = rowRange(noteId)
  const end = (await reader.run(lastRow, range))[0]?.last ?? -1
  for (let { first } = range; first <= end; first += NUMBERS_AT_ONCE) {
    const rows = await reader.run(rowsBetween, { first, last: Math.min(first + NUMBERS_AT_ONCE - 1, end) })
    yield rows.map(({ id }) => id)
  }
}
