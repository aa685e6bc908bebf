import { moving } from '../move/move-note.ts'
import { noteInput } from '../note/entity-input.ts'
import type { Note } from '../note/note.ts'
import { creating, deleting, editing, replacing } from '../note/note-work.ts'
import type { NoteWork } from '../note/write-transaction.ts'
import type { KnowledgeSettings } from '../settings.ts'
import type { Edit } from '../text/edit/apply-edit.ts'
import type { BatchOperation } from './schema-batch.ts'

/** What an operation did, and the status it would have been answered with alone. */
export type Done = { status: 200 | 201; note: Note } | { status: 200; isDeleted: boolean }

/** One operation of a batch, judged as its route would; throws what the route would answer with. */
export async function workOf(operation: BatchOperation, settings: KnowledgeSettings): Promise<NoteWork<Done>> {
  switch (operation.op) {
    case 'create': {
      const work = await creating(noteInput(operation), settings)
      return async (tx, context) => ({ status: 201, note: (await work(tx, context)).note })
    }
    case 'put': {
      const preconditions = { ifMatch: operation.if_match, ifNoneMatch: operation.if_none_match }
      const work = await replacing(operation.entity_id, noteInput(operation), preconditions, settings)
      return async (tx, context) => {
        const { isNew, note } = await work(tx, context)
        return { status: isNew ? 201 : 200, note }
      }
    }
    case 'patch': {
      const work = editing(operation.entity_id, operation as Edit, { ifMatch: operation.if_match })
      return async (tx, context) => ({ status: 200, note: (await work(tx, context)).note })
    }
    case 'move': {
      const move = { destinationPath: operation.destination_path, updateLinks: operation.update_links ?? false }
      const work = moving(operation.entity_id, move, { ifMatch: operation.if_match })
      return async (tx, context) => ({ status: 200, note: (await work(tx, context)).note })
    }
    case 'delete': {
      const work = deleting(operation.entity_id, { ifMatch: operation.if_match })
      return async (tx, context) => ({ status: 200, isDeleted: await work(tx, context) })
    }
  }
}
