import { type Static, Type } from 'typebox'
import { nullable } from '../../platform/http/input/nullable.ts'
import { isLonger } from '../../platform/text/is-longer.ts'

/** The wire calls a note an entity; this is the only place, with `note-document.ts`, where its JSON members are named. */

const MAX_TITLE = 500
const MAX_TYPE = 200

const jsonObject = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description })

export const NotePath = Type.Object({
  project_id: Type.String({ description: 'External id of the project.' }),
  entity_id: Type.String({ description: 'External id of the note.' }),
})

export function placeOf(params: Static<typeof NotePath>) {
  return { projectId: params.project_id, noteId: params.entity_id }
}

export const ProjectPath = Type.Object({ project_id: Type.String({ description: 'External id of the project.' }) })

const title = Type.Refine(
  Type.String({
    description: `1 to ${MAX_TITLE} characters, blanks around it not counted.`,
    documented: { minLength: 1 },
  }),
  (text) => titleProblem(text) === undefined,
  (text) => titleProblem(text) ?? '',
)

function titleProblem(text: string): string | undefined {
  const title = text.trim()
  if (title === '') return 'must not be empty'
  return isLonger(title, MAX_TITLE) ? `must not have more than ${MAX_TITLE} characters` : undefined
}

const noteType = Type.String({
  minLength: 1,
  maxLength: MAX_TYPE,
  description: '`note` without it; kept in its canonical form. `type` in the text wins.',
})

export const EntityInput = Type.Object({
  title,
  directory: Type.Optional(nullable(Type.String({ description: 'Folder in the project; empty for its root.' }))),
  folder: Type.Optional(nullable(Type.String({ description: 'Another name of `directory`.' }))),
  content: Type.Optional(nullable(Type.String({ description: 'Markdown, with or without frontmatter.' }))),
  note_type: Type.Optional(nullable(noteType)),
  entity_type: Type.Optional(nullable(noteType)),
  entity_metadata: Type.Optional(nullable(jsonObject('Frontmatter; title, type and permalink in it are ignored.'))),
  content_type: Type.Optional(
    nullable(
      Type.String({ pattern: '^[\\w\\-+.]+/[\\w\\-+.]+$', maxLength: 200, description: 'Only `text/markdown`.' }),
    ),
  ),
})

export type EntityInputBody = Static<typeof EntityInput>

const INTEGER = /^-?\d{1,15}$/
const integerAsText = Type.Refine(
  Type.String({ description: 'An integer all the same.', documented: { pattern: INTEGER.source } }),
  (text) => INTEGER.test(text),
  () => 'must be an integer',
)

export const EditBody = Type.Object({
  operation: Type.Union([
    Type.Literal('append'),
    Type.Literal('prepend'),
    Type.Literal('find_replace'),
    Type.Literal('replace_section'),
    Type.Literal('insert_before_section'),
    Type.Literal('insert_after_section'),
    Type.Literal('delete_section'),
  ]),
  content: Type.String({ description: 'What is added, or stands there afterwards; may be empty.' }),
  section: Type.Optional(
    nullable(Type.String({ description: 'A heading of the note; without `#`, one of the second level.' })),
  ),
  find_text: Type.Optional(nullable(Type.String({ description: 'For `find_replace`: exactly as it is written.' }))),
  expected_replacements: Type.Optional(
    Type.Union([Type.Integer(), integerAsText, Type.Null()], {
      description: 'How often `find_text` must occur; 1 without it.',
    }),
  ),
  replace_subsections: Type.Optional(
    nullable(Type.Boolean({ description: 'False: `replace_section` ends at the next heading of any level.' })),
  ),
  metadata: Type.Optional(nullable(jsonObject('Frontmatter to change besides; null takes a key away.'))),
})

const ObservationDocument = Type.Object({
  id: Type.Integer(),
  category: Type.String(),
  content: Type.String(),
  tags: Type.Array(Type.String()),
  context: nullable(Type.String({ description: 'What stood in parentheses at the end.' })),
  permalink: Type.String(),
})

const RelationDocument = Type.Object({
  id: Type.Integer(),
  direction: Type.Union([Type.Literal('outgoing'), Type.Literal('incoming')]),
  from_id: Type.String({ description: 'Permalink of the note with the link, or its path.' }),
  to_id: nullable(Type.String({ description: 'Permalink of the target, or its path; null while there is none.' })),
  to_name: Type.String({
    description: 'Title of the target; while there is none, what the text calls it, with the anchor.',
  }),
  relation_type: Type.String(),
  context: nullable(Type.String()),
  permalink: Type.String(),
  from_external_id: Type.String(),
  to_external_id: nullable(Type.String()),
  display: nullable(Type.String({ description: 'What stands behind `|` in the link.' })),
  anchor: nullable(Type.String({ description: 'What stands behind `#` in the link.' })),
})

export const EntityDocument = Type.Object({
  external_id: Type.String({ description: 'Never changes.' }),
  id: Type.Integer(),
  title: Type.String(),
  note_type: Type.String(),
  content_type: Type.String(),
  permalink: nullable(Type.String()),
  file_path: Type.String(),
  content: nullable(Type.String({ description: 'The whole text, frontmatter included.' })),
  entity_metadata: nullable(jsonObject('All frontmatter.')),
  observations: Type.Array(ObservationDocument),
  relations: Type.Array(RelationDocument, {
    description: 'Outgoing ones in the order of the text, then incoming ones.',
  }),
  relations_truncated: Type.Optional(
    Type.Boolean({
      description:
        'There are more than the first 10,000 outgoing or 1,000 incoming ones; `backlinks` has all incoming ones.',
    }),
  ),
  created_at: Type.String(),
  updated_at: Type.String(),
  created_by: nullable(Type.String()),
  last_updated_by: nullable(Type.String()),
  checksum: Type.String({ description: 'SHA-256 of the text; the ETag is the same.' }),
  version: Type.Integer({ description: 'One more with every change.' }),
  api_version: Type.Literal('v2'),
})

export type EntityDocument = Static<typeof EntityDocument>

export const DeleteAnswer = Type.Object({ deleted: Type.Boolean() })
