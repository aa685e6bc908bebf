import { sql } from 'kysely'
import type { Reader } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import '../tables.ts'

/** So many are read at once; a note may be waited for by any number. */
export const WAITING_AT_ONCE = 2000

/** A relation whose target is not known yet. */
export interface WaitingRelation {
  from_id: number
  position: number
  to_name: string
  anchor: string | null
  source_path: string
}

type Waiting = { projectId: number; keys: string | readonly string[]; fromId: number; position: number }

type WaitingRow = WaitingRelation & { key: string }

/** `part_key`: the target key of a text that may be a part of a note with a "#" in its name. */
export type WaitingBy = 'target_key' | 'whole_key' | 'part_key'

const CONDITIONS = {
  target_key: sql``,
  whole_key: sql`and r.whole_key is not null`,
  part_key: sql`and r.to_name like '%#%#%'`,
}

function waitingBy(by: WaitingBy) {
  const column = by === 'part_key' ? 'target_key' : by
  return statement<Waiting, WaitingRow>(
    (_query, p, engine) => sql`
      select r.${sql.ref(column)} as key, r.from_id, r.position, r.to_name, r.anchor, notes.file_path as source_path
      from relations r ${engine === 'sqlite' ? sql`cross join` : sql`join`} notes on notes.id = r.from_id
      where r.project_id = ${p('projectId')} and r.to_id is null and r.${sql.ref(column)} ${
        engine === 'sqlite' ? sql`in (select value from json_each(${p('keys')}))` : sql`= any(${p('keys')}::text[])`
      } ${CONDITIONS[by]}
        and (r.from_id, r.position) > (${p('fromId')}, ${p('position')})
      order by r.${sql.ref(column)}, r.from_id, r.position limit ${sql.lit(WAITING_AT_ONCE)}`,
  )
}

const WAITING = {
  target_key: waitingBy('target_key'),
  whole_key: waitingBy('whole_key'),
  part_key: waitingBy('part_key'),
}

const START = { from_id: 0, position: -1 }

type Place = Pick<WaitingRelation, 'from_id' | 'position'>

/**
 * All unresolved relations with one of the keys, some at a time: where there are many, those of one key after those of another, as
 * the index has them. In the order of their notes, all that are left would be sorted for each batch. Null when there is none: nobody
 * waits for most new notes, and they should not pay for more than the question.
 */
export async function waitingRelations(
  reader: Reader,
  projectId: number,
  by: WaitingBy,
  keys: readonly string[],
): Promise<AsyncIterable<WaitingRelation[]> | null> {
  const read = (asked: readonly string[], { from_id: fromId, position }: Place) => {
    const list = reader.engine === 'sqlite' ? JSON.stringify(asked) : asked
    return reader.run(WAITING[by], { projectId, keys: list, fromId, position })
  }
  const first = await read(keys, START)
  return first.length === 0 ? null : allWaiting(first, keys, read)
}

async function* allWaiting(
  first: WaitingRow[],
  keys: readonly string[],
  read: (asked: readonly string[], after: Place) => Promise<WaitingRow[]>,
): AsyncGenerator<WaitingRelation[]> {
  const left = new Set(keys)
  let after: Place = START
  for (let rows = first; ; ) {
    if (rows.length > 0) yield rows
    for (const { key } of rows) left.delete(key)
    const last = rows.at(-1)
    if (last !== undefined && rows.length === WAITING_AT_ONCE) {
      after = last
      rows = await read([last.key], after)
    } else if (after === START || left.size === 0) return
    else {
      after = START
      rows = await read([...left], after)
    }
  }
}

const ownWaiting = statement<{ fromId: number; position: number }, WaitingRelation>(
  (_query, p) => sql`
    select r.from_id, r.position, r.to_name, r.anchor, notes.file_path as source_path
    from relations r join notes on notes.id = r.from_id
    where r.from_id = ${p('fromId')} and r.to_id is null and r.position > ${p('position')}
    order by r.position limit ${sql.lit(WAITING_AT_ONCE)}`,
)

/** Unresolved relations of one note, beginning behind a position. */
export function ownWaitingRelations(reader: Reader, fromId: number, position: number): Promise<WaitingRelation[]> {
  return reader.run(ownWaiting, { fromId, position })
}

const boundTo = statement<{ toId: number; fromId: number; position: number }, WaitingRelation>(
  (_query, p, engine) => sql`
    select r.from_id, r.position, r.to_name, r.anchor, notes.file_path as source_path
    from relations r ${engine === 'sqlite' ? sql`cross join` : sql`join`} notes on notes.id = r.from_id
    where r.to_id = ${p('toId')} and (r.from_id, r.position) > (${p('fromId')}, ${p('position')})
    order by r.from_id, r.position limit ${sql.lit(WAITING_AT_ONCE)}`,
)

/** Relations that are bound to a note, in the order of their notes, beginning behind `after`. */
export function relationsTo(
  reader: Reader,
  noteId: number,
  after: { from_id: number; position: number },
): Promise<WaitingRelation[]> {
  return reader.run(boundTo, { toId: noteId, fromId: after.from_id, position: after.position })
}
