import { type Static, Type } from 'typebox'
import { MoveBody } from '../move/schema-move.ts'
import { EditBody, EntityInput } from '../note/schema-notes.ts'

export const MOST_OPERATIONS = 100
// A hundred tags; as a header it would be bounded, too.
const LONGEST_TAGS = 8_000

// NOTE A member that nobody knows is refused here: a misspelt precondition would be none.
const CLOSED = { additionalProperties: false } as const

const entityId = Type.String({ minLength: 1, description: 'External id of the note.' })
const onExisting = {
  entity_id: entityId,
  if_match: Type.Optional(
    Type.String({ maxLength: LONGEST_TAGS, description: 'As the header If-Match: `etag` of an answer, or `*`.' }),
  ),
}

const CreateOperation = Type.Object({ op: Type.Literal('create'), ...EntityInput.properties }, CLOSED)

const PutOperation = Type.Object(
  {
    op: Type.Literal('put'),
    ...onExisting,
    if_none_match: Type.Optional(Type.Literal('*', { description: 'Only when there is no such note.' })),
    ...EntityInput.properties,
  },
  CLOSED,
)

const PatchOperation = Type.Object({ op: Type.Literal('patch'), ...onExisting, ...EditBody.properties }, CLOSED)

const MoveOperation = Type.Object({ op: Type.Literal('move'), ...onExisting, ...MoveBody.properties }, CLOSED)

const DeleteOperation = Type.Object({ op: Type.Literal('delete'), ...onExisting }, CLOSED)

const Operation = Type.Union([CreateOperation, PutOperation, PatchOperation, MoveOperation, DeleteOperation], {
  description: 'Beside `op`, the members of the body of the operation on one note.',
})

export type BatchOperation = Static<typeof Operation>

export const BatchBody = Type.Object(
  {
    operations: Type.Array(Operation, { minItems: 1, maxItems: MOST_OPERATIONS, description: 'In this order.' }),
    atomic: Type.Optional(Type.Boolean({ default: false, description: 'Do all of them or none.' })),
  },
  CLOSED,
)

const EntitySummary = Type.Object({
  external_id: Type.String(),
  entity_id: Type.Integer(),
  title: Type.String(),
  permalink: Type.Union([Type.String(), Type.Null()]),
  file_path: Type.String(),
  version: Type.Integer(),
  etag: Type.String({ description: 'For `if_match`.' }),
})

const BatchResult = Type.Object({
  index: Type.Integer({ description: 'Which of the operations, from 0.' }),
  op: Type.String(),
  status: Type.Integer({ description: 'What the operation would have been answered with alone.' }),
  entity: Type.Optional(EntitySummary),
  deleted: Type.Optional(Type.Boolean({ description: 'Of a `delete`: false when there was no such note.' })),
  error: Type.Optional(Type.Object({ detail: Type.String() })),
})

export const BatchAnswer = Type.Object({
  results: Type.Array(BatchResult, { description: 'In the order of the operations.' }),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
})

export type BatchAnswer = Static<typeof BatchAnswer>

export type BatchResult = Static<typeof BatchResult>
