/**
 * On a PostgreSQL that has pgvector: the vectors in a type of that extension, in a table beside ours. It is made here and not by a
 * migration, since the extension may come and go. Rows leave it with the vectors they were made from.
 */
import { HALF_VALUES, halvesOf } from './half-floats.ts'
import type { VectorConnection } from './store-vector-connection.ts'
import type { ChangePlace, StoredVector, VectorsKey } from './store-vector-source.ts'

const IS_THERE = `select 1 as yes from pg_available_extensions where name = 'vector'`
// Any number that nothing else locks by.
const LOCK = 1_852_798_019
// Several processes may do so at once. One text, so it is one transaction.
const CREATE = `
  select pg_advisory_xact_lock(${LOCK});
  create extension if not exists vector;
  create table if not exists note_vectors_near (
    id bigint primary key references note_vectors (id) on delete cascade,
    project_id bigint not null,
    model_id bigint not null,
    vector halfvec not null
  );
  create index if not exists note_vectors_near_key on note_vectors_near (project_id, model_id);
  create table if not exists note_vectors_near_state (
    project_id bigint not null,
    model_id bigint not null,
    seq bigint not null,
    note_id bigint not null,
    primary key (project_id, model_id),
    foreign key (project_id, model_id) references project_embeddings (project_id, model_id) on delete cascade
  )`
const STATE = 'select seq, note_id from note_vectors_near_state where project_id = ?1 and model_id = ?2'
const ADD = `
  insert into note_vectors_near (id, project_id, model_id, vector)
  select v.id, v.project_id, v.model_id, n.vector::halfvec
  from unnest(?1::bigint[], ?2::text[]) n (id, vector) join note_vectors v on v.id = n.id
  on conflict (id) do nothing`
const SET_STATE = `
  insert into note_vectors_near_state as s (project_id, model_id, seq, note_id) values (?1, ?2, ?3, ?4)
  on conflict (project_id, model_id) do update set seq = excluded.seq, note_id = excluded.note_id
  where (s.seq, s.note_id) < (excluded.seq, excluded.note_id)`
const NEAREST = `
  select id from note_vectors_near where project_id = ?1 and model_id = ?2 order by vector <#> ?3::halfvec limit ?4`
// As text a number takes ten times the room that it takes as it is stored.
const NUMBERS_AT_ONCE = 262_144

export class NearTable {
  readonly #connection: VectorConnection

  private constructor(connection: VectorConnection) {
    this.#connection = connection
  }

  /** Null where there is no extension. Throws where there is one that cannot be used. */
  static async open(connection: VectorConnection): Promise<NearTable | null> {
    if (connection.engine === 'sqlite') return null
    const rows = await connection.ask(IS_THERE, [])
    if (rows.length === 0) return null
    await connection.ask(CREATE, [])
    return new NearTable(connection)
  }

  async state({ projectId, modelId }: VectorsKey): Promise<ChangePlace> {
    const [row] = await this.#connection.ask<ChangePlace>(STATE, [projectId, modelId])
    return row ?? { seq: 0, note_id: 0 }
  }

  /** Those of this length, unless they are there already. */
  async add(dimensions: number, rows: readonly StoredVector[]): Promise<void> {
    const most = Math.ceil(NUMBERS_AT_ONCE / dimensions)
    for (let from = 0; from < rows.length; from += most) {
      const texts = rows.slice(from, from + most).map(({ id, vector }) => ({ id, text: textOf(vector, dimensions) }))
      const usable = texts.filter(({ text }) => text !== null)
      if (usable.length === 0) continue
      await this.#connection.ask(ADD, [usable.map(({ id }) => id), usable.map(({ text }) => text)])
    }
  }

  async setState({ projectId, modelId }: VectorsKey, { seq, note_id }: ChangePlace): Promise<void> {
    await this.#connection.ask(SET_STATE, [projectId, modelId, seq, note_id])
  }

  async nearest({ projectId, modelId }: VectorsKey, vector: Float32Array, limit: number): Promise<number[]> {
    const text = `[${vector.join(',')}]`
    const rows = await this.#connection.ask<{ id: number }>(NEAREST, [projectId, modelId, text, limit])
    return rows.map(({ id }) => id)
  }
}

/** Null for what the extension would refuse. */
function textOf(bytes: Uint8Array, dimensions: number): string | null {
  const halves = halvesOf(bytes, dimensions)
  if (halves === null) return null
  const values = Array.from(halves, (bits) => HALF_VALUES[bits] as number)
  return values.every(Number.isFinite) ? `[${values.join(',')}]` : null
}
