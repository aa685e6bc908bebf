import { Type } from 'typebox'

export const FolderFilters = Type.Object({
  dir_name: Type.Optional(Type.String({ maxLength: 1_000, default: '/', description: 'The folder to list.' })),
  depth: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: 1, description: 'How many levels below it.' })),
  file_name_glob: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      allowEmptyValue: true,
      description: 'Which files, such as `*.md`; folders are always listed.',
    }),
  ),
  sort: Type.Optional(
    Type.Union(
      (['title_asc', 'title_desc', 'updated_asc', 'updated_desc'] as const).map((value) => Type.Literal(value)),
      { allowEmptyValue: true, description: 'Of the files; by file name without it.' },
    ),
  ),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000, default: 1 })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 10 })),
})

const folder = {
  name: Type.String(),
  directory_path: Type.String({ description: 'Where the folder or file is, from the root, which is `/`.' }),
  type: Type.Union([Type.Literal('directory'), Type.Literal('file')]),
}

const file = {
  file_path: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  permalink: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  external_id: Type.Optional(Type.String()),
  entity_id: Type.Optional(Type.Integer()),
  note_type: Type.Optional(Type.String()),
  content_type: Type.Optional(Type.String()),
  updated_at: Type.Optional(Type.String({ format: 'date-time' })),
}

const anyNode = Type.Object({}, { additionalProperties: true, description: 'A node of the same form.' })

export const TreeDocument = Type.Object({
  ...folder,
  children: Type.Array(Type.Object({ ...folder, ...file, children: Type.Optional(Type.Array(anyNode)) })),
})

export const StructureDocument = Type.Object({
  ...folder,
  children: Type.Array(Type.Object({ ...folder, children: Type.Array(anyNode) })),
})

export const FolderDocument = Type.Object({
  nodes: Type.Array(Type.Object({ ...folder, ...file })),
  page: Type.Integer(),
  page_size: Type.Integer(),
  total: Type.Integer(),
  has_more: Type.Boolean(),
})
