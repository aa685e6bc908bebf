import { Type } from 'typebox'
import { EntityDocument } from '../note/schema-notes.ts'

const MAX_PATH = 500
const pathText = (description: string) => Type.String({ minLength: 1, maxLength: MAX_PATH, description })

export const MoveBody = Type.Object({
  destination_path: pathText(
    'Path in the project; a folder when it ends in a slash. `.md` is added where it is missing.',
  ),
  update_links: Type.Optional(
    Type.Boolean({ default: false, description: 'Rewrite links that reach the note only by a name it had.' }),
  ),
})

export const MovedDocument = Type.Object({
  ...EntityDocument.properties,
  links_updated: Type.Optional(
    Type.Array(Type.Object({ external_id: Type.String(), file_path: Type.String(), count: Type.Integer() }), {
      description: 'With `update_links`: the notes whose links were rewritten, and how many.',
    }),
  ),
})

export const MoveDirectoryBody = Type.Object({
  source_directory: pathText('Everything under it is moved.'),
  destination_directory: pathText('`/` is the root of the project.'),
  atomic: Type.Optional(Type.Boolean({ default: false, description: 'Move all or nothing.' })),
})

const FailureList = Type.Array(Type.Object({ path: Type.String(), error: Type.String() }))

export const DirectoryMoveResult = Type.Object({
  total_files: Type.Integer(),
  successful_moves: Type.Integer(),
  failed_moves: Type.Integer(),
  moved_files: Type.Array(Type.String(), { description: 'The new paths.' }),
  errors: FailureList,
})

export const DeleteDirectoryBody = Type.Object({ directory: pathText('Everything under it is deleted.') })

export const DirectoryDeleteResult = Type.Object({
  total_files: Type.Integer(),
  successful_deletes: Type.Integer(),
  failed_deletes: Type.Integer(),
  deleted_files: Type.Array(Type.String()),
  errors: FailureList,
  file_delete_status: Type.Literal('complete'),
})
