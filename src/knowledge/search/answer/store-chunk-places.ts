import { sql } from 'kysely'
import type { Reader } from '../../../platform/storage/database.ts'
import { numbersIn } from '../../../platform/storage/json-list.ts'
import { statement } from '../../../platform/storage/statement.ts'
import '../../semantic/tables.ts'
import { ROW_KINDS } from '../row-number.ts'

interface PlaceRow {
  note_id: number
  number: number
  start_at: number
  end_at: number
  hash: string
}

const placesOf = statement<{ projectId: number; modelId: number; ids: string }, PlaceRow>(
  (_query, p, engine) => sql`
    select note_id, number, start_at, end_at, hash from note_vectors
    where project_id = ${p('projectId')} and model_id = ${p('modelId')}
      and note_id in ${numbersIn(engine, p('ids'))} and kind = ${sql.lit(ROW_KINDS.note)} and position = 0`,
)

/** A chunk of a note as it was embedded. */
export interface EmbeddedChunk {
  start: number
  end: number
  hash: string
}

/** The chunks of notes, by their numbers. */
export async function embeddedChunks(
  reader: Reader,
  projectId: number,
  modelId: number,
  noteIds: readonly number[],
): Promise<Map<number, Map<number, EmbeddedChunk>>> {
  const chunks = new Map<number, Map<number, EmbeddedChunk>>()
  for (const row of await reader.run(placesOf, { projectId, modelId, ids: JSON.stringify(noteIds) })) {
    const ofNote = chunks.get(row.note_id) ?? new Map()
    ofNote.set(row.number, { start: row.start_at, end: row.end_at, hash: row.hash })
    chunks.set(row.note_id, ofNote)
  }
  return chunks
}
