import type { RelationsOfNote } from '../../src/knowledge/link/store-relations.ts'
import { incomingRelations, outgoingRelations } from '../../src/knowledge/link/store-relations.ts'
import type { NoteRef } from '../../src/knowledge/note/note.ts'
import type { Reader } from '../../src/platform/storage/database.ts'

/** What the note links to, in the order of the text, then what links to it. */
export async function relationsOf(reader: Reader, note: NoteRef): Promise<RelationsOfNote> {
  const outgoing = await outgoingRelations(reader, note)
  const { relations, isTruncated } = await incomingRelations(reader, note)
  return { relations: [...outgoing.relations, ...relations], isTruncated: outgoing.isTruncated || isTruncated }
}
