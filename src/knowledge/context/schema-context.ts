import { type Static, Type } from 'typebox'
import { nullable } from '../../platform/http/input/nullable.ts'
import { ItemType } from '../schema-parts.ts'

export const ContextPath = Type.Object({ project_id: Type.String(), '*': Type.String() })

const shared = {
  type: Type.Optional(
    Type.Array(ItemType, {
      maxItems: 3,
      allowEmptyValue: true,
      description: 'What to list, `entity` without it; may be repeated, or hold several with commas between them.',
    }),
  ),
  depth: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 5, default: 1, description: 'How many relations away related notes may be.' }),
  ),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
  max_related: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      default: 10,
      description: 'Related results of each result; its relations have at most 100,000 characters together.',
    }),
  ),
}

const MOMENTS = '`7d`, `2 weeks ago`, `today`, an ISO date.'
export const TIMEFRAME = { maxLength: 100, description: `Only notes changed since: ${MOMENTS}` }

export const ContextFilters = Type.Object({
  ...shared,
  timeframe: Type.Optional(
    Type.String({ ...TIMEFRAME, description: `Of related notes, only those changed since: ${MOMENTS}` }),
  ),
})
export const RecentFilters = Type.Object({
  ...shared,
  timeframe: Type.Optional(Type.String({ ...TIMEFRAME, default: '7d' })),
})

export type ContextFilterValues = Static<typeof ContextFilters>

const times = { created_at: Type.String({ format: 'date-time' }), updated_at: Type.String({ format: 'date-time' }) }

const EntityItem = Type.Object({
  type: Type.Literal('entity'),
  external_id: Type.String(),
  entity_id: Type.Integer(),
  permalink: nullable(Type.String()),
  title: Type.String(),
  note_type: Type.String(),
  content: nullable(Type.String({ description: 'Cut at 50,000 characters, of a related note at 500.' })),
  file_path: Type.String(),
  ...times,
})

const ObservationItem = Type.Object({
  type: Type.Literal('observation'),
  observation_id: Type.Integer(),
  entity_id: Type.Integer(),
  entity_external_id: Type.String(),
  title: Type.String(),
  file_path: Type.String(),
  permalink: Type.String(),
  category: Type.String(),
  content: Type.String(),
  tags: Type.Array(Type.String()),
  context: nullable(Type.String()),
  ...times,
})

const RelationItem = Type.Object({
  type: Type.Literal('relation'),
  relation_id: Type.Integer(),
  entity_id: Type.Integer(),
  title: Type.String(),
  file_path: Type.String(),
  permalink: Type.String(),
  relation_type: Type.String(),
  from_entity: Type.String(),
  from_entity_id: Type.Integer(),
  from_entity_external_id: Type.String(),
  to_entity: nullable(Type.String()),
  to_entity_id: nullable(Type.Integer()),
  to_entity_external_id: nullable(Type.String()),
  to_name: Type.String(),
  context: nullable(Type.String()),
  ...times,
})

export const ContextResults = Type.Array(
  Type.Object({
    primary_result: Type.Union([EntityItem, ObservationItem, RelationItem]),
    observations: Type.Array(ObservationItem),
    related_results: Type.Array(Type.Union([EntityItem, RelationItem])),
  }),
)

export const ContextDocument = Type.Object({
  results: ContextResults,
  metadata: Type.Object({
    uri: nullable(Type.String()),
    types: nullable(Type.Array(ItemType)),
    depth: Type.Integer(),
    timeframe: nullable(Type.String()),
    generated_at: Type.String({ format: 'date-time' }),
    primary_count: Type.Integer(),
    related_count: Type.Integer(),
    total_results: Type.Integer(),
    total_relations: Type.Integer(),
    total_observations: Type.Integer(),
  }),
  page: Type.Integer(),
  page_size: Type.Integer(),
  has_more: Type.Boolean(),
})
