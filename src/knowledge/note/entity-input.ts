import { AppError } from '../../platform/errors/app-error.ts'
import type { Metadata } from '../text/frontmatter/metadata.ts'
import type { NoteInput } from './note-input.ts'
import type { EntityInputBody } from './schema-notes.ts'

const MARKDOWN = 'text/markdown'

/** What a body says that a note shall be. */
export function noteInput(body: EntityInputBody): NoteInput {
  const contentType = body.content_type?.toLowerCase() ?? MARKDOWN
  if (contentType !== MARKDOWN) {
    throw new AppError('unsupported_media_type', `content_type must be ${MARKDOWN}: other documents are not kept here`)
  }
  return {
    title: body.title,
    directory: body.directory ?? body.folder ?? '',
    content: body.content ?? null,
    noteType: body.note_type ?? body.entity_type ?? null,
    metadata: (body.entity_metadata ?? null) as Metadata | null,
  }
}
