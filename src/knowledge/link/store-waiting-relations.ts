import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { touchNotes } from '../note/note-cache.ts'
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

/** `part_key`: the target key of a text that may be a part of a note with a "#" in its name. */
export type WaitingBy = 'target_key' | 'whole_key' | 'part_key'

const CONDITIONS = {
  target_key: sql``,
  whole_key: sql`and r.whole_key is not null`,
  part_key: sql`and r.to_name like '%#%#%'`,
}

function waitingBy(by: WaitingBy) {
  const column = by === 'part_key' ? 'target_key' : by
  return statement<Waiting, WaitingRelation>(
    (_query, p, engine) => sql`
      select r.from_id, r.position, r.to_name, r.anchor, notes.file_path as source_path
      from relations r ${engine === 'sqlite' ? sql`cross join` : sql`join`} notes on notes.id = r.from_id
      where r.project_id = ${p('projectId')} and r.to_id is null and r.${sql.ref(column)} ${
        engine === 'sqlite' ? sql`in (select value from json_each(${p('keys')}))` : sql`= any(${p('keys')}::text[])`
      } ${CONDITIONS[by]}
        and (r.from_id, r.position) > (${p('fromId')}, ${p('position')})
      order by r.from_id, r.position limit ${sql.lit(WAITING_AT_ONCE)}`,
  )
}

const WAITING = {
  target_key: waitingBy('target_key'),
  whole_key: waitingBy('whole_key'),
  part_key: waitingBy('part_key'),
}

/** Unresolved relations with one of the keys, in the order of their notes, beginning behind `after`. */
export function waitingRelations(
  reader: Reader,
  projectId: number,
  by: WaitingBy,
  keys: readonly string[],
  after: { from_id: number; position: number },
): Promise<WaitingRelation[]> {
  return reader.run(WAITING[by], {
    projectId,
    keys: reader.engine === 'sqlite' ? JSON.stringify(keys) : keys,
    fromId: after.from_id,
    position: after.position,
  })
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

/** Which note a relation reaches from now on. */
export interface Binding {
  from_id: number
  position: number
  to_id: number
  anchor: string | null
}

type Bindings = { rows: string }

const bindRows = statement<Bindings>(
  (_query, p) => sql`
    update relations set to_id = list.value ->> 2, anchor = list.value ->> 3 from json_each(${p('rows')}) as list
    where from_id = list.value ->> 0 and position = list.value ->> 1`,
)

const bindRow = statement<Binding>((query, p) =>
  query
    .updateTable('relations')
    .set({ to_id: p('to_id'), anchor: p('anchor') })
    .where('from_id', '=', p('from_id'))
    .where('position', '=', p('position')),
)

// The first relation of a type stays the one that is shown, wherever in the document those bound later stand.
const REPEATS = sql`
  case when row_number() over (partition by from_id, to_id, relation_type order by position) = 1 then 0 else 1 end`

const markRepeats = statement<Bindings>((_query, p, engine) =>
  engine === 'sqlite'
    ? sql`
      update relations set is_repeat = ranked.repeats
      from (
        select from_id, position, ${REPEATS} as repeats from relations
        where (to_id, from_id) in (select value ->> 2, value ->> 0 from json_each(${p('rows')}))
      ) ranked
      where relations.from_id = ranked.from_id and relations.position = ranked.position
        and relations.is_repeat <> ranked.repeats`
    : // Each edge is looked for by itself: of a table that it does not know yet, PostgreSQL would rather read all of it.
      sql`
      update relations set is_repeat = 1 - is_repeat where ctid = any(array(
        select place from (
          select found.*, ${REPEATS} as repeats
          from (
            select distinct (value ->> 2)::bigint as target, (value ->> 0)::bigint as source
            from json_array_elements(${p('rows')}::json)
          ) edge cross join lateral (
            select r.ctid as place, r.from_id, r.to_id, r.position, r.relation_type, r.is_repeat from relations r
            where r.to_id = edge.target and r.from_id = edge.source offset 0
          ) found
        ) ranked
        where is_repeat <> repeats))`,
)

export async function bindRelations(tx: Transaction, bindings: readonly Binding[]): Promise<void> {
  if (bindings.length === 0) return
  const rows = JSON.stringify(
    bindings.map(({ from_id, position, to_id, anchor }) => [from_id, position, to_id, anchor]),
  )
  if (tx.engine === 'sqlite') await tx.send(bindRows, { rows })
  else for (const binding of bindings) await tx.send(bindRow, binding)
  await tx.send(markRepeats, { rows })
  touchNotes(
    tx,
    bindings.flatMap(({ from_id, to_id }) => [from_id, to_id]),
  )
}

const unbindRows = statement<{ noteId: number }>((query, p) =>
  query
    .updateTable('relations')
    .set({ to_id: null, is_repeat: sql.lit(0) })
    .where('to_id', '=', p('noteId')),
)

const unbindSomeRows = statement<{ noteId: number }>(
  (_query, p) => sql`
    update relations set to_id = null, is_repeat = 0 where (from_id, position) in (
      select from_id, position from relations where to_id = ${p('noteId')} limit ${sql.lit(WAITING_AT_ONCE)})`,
)

/** All relations to the note wait again for one with the name. */
export async function unbindRelations(tx: Transaction, noteId: number): Promise<void> {
  if (tx.engine === 'postgres') await tx.send(unbindRows, { noteId })
  else while ((await tx.change(unbindSomeRows, { noteId })) === WAITING_AT_ONCE);
}
