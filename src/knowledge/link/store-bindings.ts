import { sql } from 'kysely'
import type { Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { touchNotes } from '../note/note-cache.ts'
import { together } from '../note/together.ts'
import '../tables.ts'
import { WAITING_AT_ONCE } from './store-waiting-relations.ts'

/** Which note a relation reaches from now on. */
export interface Binding {
  from_id: number
  position: number
  to_id: number
  anchor: string | null
}

const bindRows = statement<{ rows: string }>(
  (_query, p) => sql`
    update relations set to_id = list.value ->> 2, anchor = list.value ->> 3 from json_each(${p('rows')}) as list
    where from_id = list.value ->> 0 and position = list.value ->> 1`,
)

// All that reach the same place. Each is looked for by itself: see below.
const bindAlike = statement<{ toId: number; anchor: string | null; places: string }>(
  (_query, p) => sql`
    update relations set to_id = ${p('toId')}, anchor = ${p('anchor')} where ctid = any(array(
      select found.place
      from (
        select (value ->> 0)::bigint as source, (value ->> 1)::integer as position
        from json_array_elements(${p('places')}::json)
      ) link cross join lateral (
        select r.ctid as place from relations r
        where r.from_id = link.source and r.position = link.position offset 0
      ) found))`,
)

// The first relation of a type stays the one that is shown, wherever in the document those bound later stand.
const REPEATS = sql`
  case when row_number() over (partition by from_id, to_id, relation_type order by position) = 1 then 0 else 1 end`

const markRepeats = statement<{ edges: string }>((_query, p, engine) =>
  engine === 'sqlite'
    ? sql`
      update relations set is_repeat = ranked.repeats
      from (
        select from_id, position, ${REPEATS} as repeats from relations
        where (to_id, from_id) in (select value ->> 1, value ->> 0 from json_each(${p('edges')}))
      ) ranked
      where relations.from_id = ranked.from_id and relations.position = ranked.position
        and relations.is_repeat <> ranked.repeats`
    : // Each edge is looked for by itself: of a table that it does not know yet, PostgreSQL would rather read all of it.
      sql`
      update relations set is_repeat = 1 - is_repeat where ctid = any(array(
        select place from (
          select found.*, ${REPEATS} as repeats
          from (
            select (value ->> 1)::bigint as target, (value ->> 0)::bigint as source
            from json_array_elements(${p('edges')}::json)
          ) edge cross join lateral (
            select r.ctid as place, r.from_id, r.to_id, r.position, r.relation_type, r.is_repeat from relations r
            where r.to_id = edge.target and r.from_id = edge.source offset 0
          ) found
        ) ranked
        where is_repeat <> repeats))`,
)

type BoundType = { position: number; relation_type: string; is_repeat: number }

const boundTypes = statement<{ fromId: number; toId: number; position: number }, BoundType>((query, p) =>
  query
    .selectFrom('relations')
    .select(['position', 'relation_type', 'is_repeat'])
    .where('from_id', '=', p('fromId'))
    .where('to_id', '=', p('toId'))
    .where('position', '>', p('position'))
    .orderBy('position')
    .limit(sql.lit(WAITING_AT_ONCE)),
)

const turnRepeat = statement<{ fromId: number; position: number }>((query, p) =>
  query
    .updateTable('relations')
    .set({ is_repeat: sql`1 - is_repeat` })
    .where('from_id', '=', p('fromId'))
    .where('position', '=', p('position')),
)

/**
 * The same for very many relations between two notes: SQLite would let nobody else have a turn. Their types stand in one text, so
 * they fit into memory.
 */
async function markRepeatsBetween(tx: Transaction, fromId: number, toId: number): Promise<void> {
  const seen = new Set<string>()
  for (let position: number | undefined = -1; position !== undefined; ) {
    const rows: BoundType[] = await tx.run(boundTypes, { fromId, toId, position })
    const wrong = rows.filter(({ relation_type, is_repeat }) => {
      const repeats = seen.has(relation_type) ? 1 : 0
      seen.add(relation_type)
      return is_repeat !== repeats
    })
    const places = wrong.map((row) => ({ fromId, position: row.position }))
    await tx.changeEach(turnRepeat, places)
    position = rows.length < WAITING_AT_ONCE ? undefined : rows.at(-1)?.position
  }
}

interface Edge {
  fromId: number
  toId: number
  /** How many relations were bound. */
  size: number
}

/**
 * Binds relations batch by batch. Which of them repeat others is found out at the end, once for all between two notes: there may
 * be a hundred thousand.
 */
export class RelationBinder {
  readonly #tx: Transaction
  readonly #edges = new Map<string, Edge>()

  constructor(tx: Transaction) {
    this.#tx = tx
  }

  async bind(bindings: readonly Binding[]): Promise<void> {
    if (bindings.length === 0) return
    const tx = this.#tx
    if (tx.engine === 'sqlite') {
      const rows = bindings.map(({ from_id, position, to_id, anchor }) => [from_id, position, to_id, anchor])
      await tx.send(bindRows, { rows: JSON.stringify(rows) })
    } else {
      // One by one, a hundred thousand of them took half a minute, in which all other changes of the project wait.
      for (const alike of Map.groupBy(bindings, ({ to_id, anchor }) => JSON.stringify([to_id, anchor])).values()) {
        const [{ to_id: toId, anchor }] = alike as [Binding]
        const places = JSON.stringify(alike.map(({ from_id, position }) => [from_id, position]))
        await tx.send(bindAlike, { toId, anchor, places })
      }
    }
    for (const { from_id, to_id } of bindings) this.#count(from_id, to_id)
    touchNotes(
      tx,
      bindings.flatMap(({ from_id, to_id }) => [from_id, to_id]),
    )
    // Where very many notes are bound, none of them has many: they need not be remembered.
    if (this.#edges.size >= WAITING_AT_ONCE) await this.end()
  }

  /** To be called behind the last batch. */
  async end(): Promise<void> {
    const tx = this.#tx
    for (const edges of together([...this.#edges.values()], WAITING_AT_ONCE)) {
      const [{ fromId, toId, size }] = edges as [Edge]
      if (tx.engine === 'sqlite' && size > WAITING_AT_ONCE) await markRepeatsBetween(tx, fromId, toId)
      else await tx.send(markRepeats, { edges: JSON.stringify(edges.map((edge) => [edge.fromId, edge.toId])) })
    }
    this.#edges.clear()
  }

  #count(fromId: number, toId: number): void {
    const key = `${fromId} ${toId}`
    const edge = this.#edges.get(key)
    if (edge === undefined) this.#edges.set(key, { fromId, toId, size: 1 })
    else edge.size++
  }
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
