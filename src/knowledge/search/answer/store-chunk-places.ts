import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import '../../semantic/tables.ts'
import { ROW_KINDS } from '../row-number.ts'
import type { ChunkPlaces } from './matched-chunk.ts'

interface PlaceRow {
  note_id: number
  number: number
  start_at: number
  end_at: number
}

const placesOf = statement<{ projectId: number; modelId: number; ids: string }, PlaceRow>(
  (_query, p, engine) => sql`
    select note_id, number, start_at, end_at from note_vectors
    where project_id = ${p('projectId')} and model_id = ${p('modelId')}
      and note_id in ${numbersIn(engine, p('ids'))} and kind = ${sql.lit(ROW_KINDS.note)} and position = 0`,
)

/** Where the chunks of notes stand in their contents. */
export async function chunkPlaces(
  reader: Reader,
  projectId: number,
  modelId: number,
  noteIds: readonly number[],
): Promise<Map<number, ChunkPlaces>> {
  const places = new Map<number, Map<number, { start: number; end: number }>>()
  for (const row of await reader.run(placesOf, { projectId, modelId, ids: JSON.stringify(noteIds) })) {
    const ofNote = places.get(row.note_id) ?? new Map()
    ofNote.set(row.number, { start: row.start_at, end: row.end_at })
    places.set(row.note_id, ofNote)
  }
  return places
}
