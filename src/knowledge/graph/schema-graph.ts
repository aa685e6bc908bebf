import { Type } from 'typebox'

const MAX_LIMIT = 10_000

const page = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_LIMIT, description: 'How many to answer with; without it, all.' }),
  ),
  cursor: Type.Optional(
    Type.String({ description: '`next_cursor` of the answer before.', documented: { minLength: 1 } }),
  ),
}

export const GraphFilters = Type.Object({
  note_type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Only notes of this type, and edges between them.' }),
  ),
  directory: Type.Optional(
    Type.String({ maxLength: 500, description: 'Only notes in this folder and below, and edges between them.' }),
  ),
  ...page,
})

export const OrphanFilters = Type.Object(page)

const nextCursor = Type.Optional(
  Type.Union([Type.String(), Type.Null()], { description: 'Only with `limit` or `cursor`; null on the last page.' }),
)

const GraphNode = Type.Object({
  external_id: Type.String(),
  title: Type.String(),
  note_type: Type.String(),
  file_path: Type.String(),
})

const GraphEdge = Type.Object({
  from_id: Type.String(),
  to_id: Type.String(),
  relation_type: Type.String({ description: 'Cut at 2,000 characters.' }),
})

export const GraphDocument = Type.Object({
  nodes: Type.Array(GraphNode),
  edges: Type.Array(GraphEdge),
  next_cursor: nextCursor,
})

export const OrphansDocument = Type.Object({
  entities: Type.Array(GraphNode),
  total: Type.Integer(),
  next_cursor: nextCursor,
})
