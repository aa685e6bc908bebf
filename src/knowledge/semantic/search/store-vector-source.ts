/** What the search by meaning reads. */
import type { VectorConnection } from './store-vector-connection.ts'

/** Whose vectors: those of one model in one project. */
export interface VectorsKey {
  projectId: number
  modelId: number
}

export interface StoredVector {
  id: number
  note_id: number
  kind: number
  position: number
  number: number
  /** See vector-bytes.ts. */
  vector: Uint8Array
}

/** A vector, and of what text it is. */
export interface TextVector extends StoredVector {
  hash: string
}

export interface ChangedNote {
  note_id: number
  seq: number
  chunks: number
}

const CHANGE_SEQ = 'select change_seq from project_embeddings where project_id = ?1 and model_id = ?2'
const COUNT = `
  select count(*) as count from (select 1 from note_vectors where project_id = ?1 and model_id = ?2 limit ?3) counted`
const COLUMNS = 'id, note_id, kind, position, number, vector'
// Of a limit that PostgreSQL does not know it does not expect that it takes all there is, to sort it.
const PAGE = `
  select ${COLUMNS} from note_vectors
  where project_id = ?1 and model_id = ?2 and (note_id, kind, position, number) > (?3, ?4, ?5, ?6)
  order by note_id, kind, position, number limit (select cast(?7 as bigint))`
const CHANGED = `
  select note_id, seq, chunks from note_embeddings
  where project_id = ?1 and model_id = ?2 and (seq, note_id) > (?3, ?4) order by seq, note_id limit (select cast(?5 as bigint))`
const OF_NOTES_ON_SQLITE = `
  select ${COLUMNS} from note_vectors
  where project_id = ?1 and model_id = ?2 and note_id in (select value from json_each(?3))`
// The offset keeps PostgreSQL from reading all of the project to find a few of it.
const OF_NOTES_ON_POSTGRES = `
  select ${COLUMNS} from unnest(?3::bigint[]) as wanted
  cross join lateral (
    select * from note_vectors where project_id = ?1 and model_id = ?2 and note_id = wanted offset 0
  ) as found`
// The signs keep an index of projects from being taken.
const BY_ID = `select ${COLUMNS}, hash from note_vectors where +project_id = ?1 and +model_id = ?2 and id`
const BY_ID_ON_SQLITE = `${BY_ID} in (select value from json_each(?3))`
const BY_ID_ON_POSTGRES = `${BY_ID} = any(?3::bigint[])`

/** How far somebody followed the changes: up to this note of this change. */
export interface ChangePlace {
  seq: number
  note_id: number
}

// Greater than the number of any note.
const LAST_NOTE = Number.MAX_SAFE_INTEGER

export function endOfChange(seq: number): ChangePlace {
  return { seq, note_id: LAST_NOTE }
}

export function hasWhole(at: ChangePlace, seq: number): boolean {
  return at.seq > seq || (at.seq === seq && at.note_id === LAST_NOTE)
}

export class VectorSource {
  readonly #connection: VectorConnection

  constructor(connection: VectorConnection) {
    this.#connection = connection
  }

  /** Counts the changes of these vectors; null when there are none at all. */
  async changeSeq({ projectId, modelId }: VectorsKey): Promise<number | null> {
    const [row] = await this.#connection.ask<{ change_seq: number }>(CHANGE_SEQ, [projectId, modelId])
    return row?.change_seq ?? null
  }

  /** How many vectors there are, or `most` when there are more. */
  async count({ projectId, modelId }: VectorsKey, most: number = Number.MAX_SAFE_INTEGER): Promise<number> {
    const [row] = await this.#connection.ask<{ count: number }>(COUNT, [projectId, modelId, most])
    return row?.count ?? 0
  }

  /** The vectors that follow this one, by note and place in it; the first ones when it is undefined. */
  page({ projectId, modelId }: VectorsKey, after: StoredVector | undefined, limit: number): Promise<StoredVector[]> {
    const { note_id, kind, position, number } = after ?? { note_id: -1, kind: 0, position: 0, number: 0 }
    return this.#connection.ask(PAGE, [projectId, modelId, note_id, kind, position, number, limit])
  }

  /** Notes whose vectors changed after that change, in the order of the changes. */
  changedNotes({ projectId, modelId }: VectorsKey, after: ChangePlace, limit: number) {
    return this.#connection.ask<ChangedNote>(CHANGED, [projectId, modelId, after.seq, after.note_id, limit])
  }

  ofNotes(key: VectorsKey, noteIds: readonly number[]): Promise<StoredVector[]> {
    return this.#listed(OF_NOTES_ON_SQLITE, OF_NOTES_ON_POSTGRES, key, noteIds)
  }

  byId(key: VectorsKey, ids: readonly number[]): Promise<TextVector[]> {
    return this.#listed(BY_ID_ON_SQLITE, BY_ID_ON_POSTGRES, key, ids)
  }

  #listed<Row>(
    onSqlite: string,
    onPostgres: string,
    { projectId, modelId }: VectorsKey,
    numbers: readonly number[],
  ): Promise<Row[]> {
    return this.#connection.engine === 'sqlite'
      ? this.#connection.ask(onSqlite, [projectId, modelId, JSON.stringify(numbers)])
      : this.#connection.ask(onPostgres, [projectId, modelId, numbers])
  }
}
