import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { fromListed } from '../../../platform/storage/look-up.ts'
import { statement } from '../../../platform/storage/statement.ts'
import '../../semantic/tables.ts'
import { ROW_KINDS } from '../row-number.ts'
import type { ChunkPlaces } from './matched-chunk.ts'

interface PlaceRow {
  note_id: number
  start_at: number
  end_at: number
  hash: string
}

const placesOf = statement<{ projectId: number; modelId: number; ids: string }, PlaceRow>(
  (_query, p, engine) => sql`
    select note_id, start_at, end_at, hash ${fromListed(engine, {
      table: 'note_vectors',
      column: 'note_id',
      list: numbersIn(engine, p('ids')),
      where: sql`project_id = ${p('projectId')} and model_id = ${p('modelId')}
        and kind = ${sql.lit(ROW_KINDS.note)} and position = 0`,
    })}`,
)

/** Where the chunks of notes stood when they were embedded. */
export async function embeddedPlaces(
  reader: Reader,
  projectId: number,
  modelId: number,
  noteIds: readonly number[],
): Promise<Map<number, ChunkPlaces>> {
  const rows = await reader.run(placesOf, { projectId, modelId, ids: JSON.stringify(noteIds) })
  const byNote = Map.groupBy(rows, (row) => row.note_id)
  return new Map(
    [...byNote].map(([noteId, chunks]) => [
      noteId,
      new Map(chunks.map(({ hash, start_at: start, end_at: end }) => [hash, { start, end }])),
    ]),
  )
}
