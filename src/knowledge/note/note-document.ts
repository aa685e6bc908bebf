import { setImmediate as nextTurn } from 'node:timers/promises'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { incomingRelations, outgoingRelations, type RelationsOfNote } from '../link/store-relations.ts'
import type { NoteRef, NoteWithContent } from './note.ts'
import { observationDocument, relationDocument } from './part-document.ts'
import type { EntityDocument } from './schema-notes.ts'
import { type Observation, readObservations } from './store-observations.ts'

const CONTENT_TYPE = 'text/markdown'

/** What is read out of a text, and what links to the note. */
export interface NoteParts {
  observations: readonly Observation[]
  outgoing: RelationsOfNote
  incoming: RelationsOfNote
}

/** Whoever has just written the note knows some of its parts already, which are not read again. */
export async function noteDocument(
  reader: Reader,
  note: NoteWithContent,
  known: Partial<NoteParts> = {},
): Promise<EntityDocument> {
  return toDocument(note, await noteParts(reader, note, known))
}

export async function noteParts(reader: Reader, note: NoteRef, known: Partial<NoteParts> = {}): Promise<NoteParts> {
  return {
    observations: known.observations ?? (await readObservations(reader, note.id)),
    outgoing: known.outgoing ?? (await outgoingRelations(reader, note)),
    incoming: known.incoming ?? (await incomingRelations(reader, note)),
  }
}

// Of more than these not all are made at once: others have their turn meanwhile.
const AT_ONCE = 5_000

async function inParts<Part, Shown>(parts: readonly Part[], show: (part: Part, at: number) => Shown): Promise<Shown[]> {
  const shown: Shown[] = []
  for (const [at, part] of parts.entries()) {
    if (at > 0 && at % AT_ONCE === 0) await nextTurn()
    shown.push(show(part, at))
  }
  return shown
}

/** A note as the wire shows it, with its observations and its relations in both directions. */
export async function toDocument(
  note: NoteWithContent,
  { observations, outgoing, incoming }: NoteParts,
): Promise<EntityDocument> {
  const isLong = observations.length > AT_ONCE
  const show = (observation: Observation, at: number) => observationDocument(note, observation, at)
  return {
    external_id: note.external_id,
    id: note.id,
    title: note.title,
    note_type: note.note_type,
    content_type: CONTENT_TYPE,
    permalink: note.permalink,
    file_path: note.file_path,
    content: note.content,
    entity_metadata: JSON.parse(note.metadata),
    observations: isLong ? await inParts(observations, show) : observations.map(show),
    relations: [...outgoing.relations, ...incoming.relations].map(relationDocument),
    ...((outgoing.isTruncated || incoming.isTruncated) && { relations_truncated: true }),
    created_at: toRfc3339(note.created_at),
    updated_at: toRfc3339(note.updated_at),
    created_by: note.created_by,
    last_updated_by: note.written_by,
    checksum: note.checksum,
    version: note.version,
    api_version: 'v2',
  }
}
