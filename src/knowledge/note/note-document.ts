import { toRfc3339 } from '../../platform/clock/clock.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { incomingRelations, outgoingRelations, type RelationsOfNote } from '../link/store-relations.ts'
import { inTurns, type Steps } from '../text/steps.ts'
import type { NoteRef, NoteWithContent } from './note.ts'
import { type ObservationDocument, observationDocument, partsBeginning, relationDocument } from './part-document.ts'
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
  tx: Transaction,
  note: NoteWithContent,
  known: Partial<NoteParts> = {},
): Promise<EntityDocument> {
  const breathe = () => tx.breathe()
  return toDocument(note, await noteParts(tx, note, known, breathe), breathe)
}

/** Of very many observations some at a time: `breathe` gives others their turn, and must be that of a transaction in one. */
export async function noteParts(
  reader: Reader,
  note: NoteRef,
  known: Partial<NoteParts> = {},
  breathe?: () => Promise<unknown>,
): Promise<NoteParts> {
  return {
    observations: known.observations ?? (await readObservations(reader, note.id, breathe)),
    outgoing: known.outgoing ?? (await outgoingRelations(reader, note)),
    incoming: known.incoming ?? (await incomingRelations(reader, note)),
  }
}

function* observationDocuments(
  note: NoteRef,
  observations: readonly Observation[],
  beginning: string,
): Steps<ObservationDocument[]> {
  const shown: ObservationDocument[] = []
  for (const [position, observation] of observations.entries()) {
    shown.push(observationDocument(note, observation, position, beginning))
    yield
  }
  return shown
}

/** A note as the wire shows it, with its observations and its relations in both directions. */
export async function toDocument(
  note: NoteWithContent,
  { observations, outgoing, incoming }: NoteParts,
  breathe?: () => Promise<unknown>,
): Promise<EntityDocument> {
  const beginning = partsBeginning(note)
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
    observations: await inTurns(observationDocuments(note, observations, beginning), breathe),
    relations: [
      ...outgoing.relations.map((relation) => relationDocument(relation, beginning)),
      ...incoming.relations.map((relation) => relationDocument(relation)),
    ],
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
