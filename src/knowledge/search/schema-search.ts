import { type Static, Type } from 'typebox'
import { nullable } from '../../platform/http/input/nullable.ts'
import { ItemType, optional } from '../schema-parts.ts'

export const RetrievalMode = Type.Union([Type.Literal('fts'), Type.Literal('vector'), Type.Literal('hybrid')], {
  description: 'By words (the default), by meaning, or by both.',
})

export type RetrievalMode = Static<typeof RetrievalMode>

const LONGEST_TEXT = 20_000
const LONGEST_NAME = 2_000
const MOST_VALUES = 100
const LAST_PAGE = 1_000_000

const texts = (description: string) =>
  Type.Array(Type.String({ maxLength: LONGEST_NAME }), { maxItems: MOST_VALUES, description })

export const SearchPage = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: LAST_PAGE, default: 1 })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
})

export const SearchBody = Type.Object({
  text: optional(
    Type.String({
      maxLength: LONGEST_TEXT,
      description: 'Words, "phrases", AND, OR, NOT, brackets, `tag:a,b`. Every text is a valid question.',
    }),
  ),
  title: optional(Type.String({ maxLength: LONGEST_NAME, description: 'Words of the title.' })),
  permalink: optional(
    Type.String({ maxLength: LONGEST_NAME, description: 'Exactly this permalink, of a note or of a part of one.' }),
  ),
  permalink_match: optional(
    Type.String({ maxLength: LONGEST_NAME, description: 'A pattern of permalinks; `*` is anything.' }),
  ),
  note_types: optional(texts('Types of notes, whatever the case.')),
  entity_types: optional(
    Type.Array(ItemType, { maxItems: MOST_VALUES, description: 'Kinds of results; all of them without it.' }),
  ),
  categories: optional(texts('Categories of observations, as they are written.')),
  after_date: optional(
    Type.String({ maxLength: 100, description: 'Only notes changed since: an ISO date or time, `7d`, `2 weeks ago`.' }),
  ),
  metadata_filters: optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description:
        'By key of the frontmatter: a value, a list (has all of them), or one of $in, $gt, $gte, $lt, $lte, $between.',
    }),
  ),
  tags: optional(texts('Tags that the note must have, all of them.')),
  status: optional(Type.String({ maxLength: LONGEST_NAME, description: '`status` of the frontmatter.' })),
  retrieval_mode: optional(RetrievalMode),
  min_similarity: optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Least similarity of what is found by meaning alone.' }),
  ),
  graph_expansion: optional(
    Type.Boolean({
      description:
        'With `vector` and `hybrid`: also notes that are related to the best hits; what is related to them rises. Without it what the server is set to.',
    }),
  ),
})

export type SearchInput = Static<typeof SearchBody>

const Snippet = Type.Object({
  field: Type.Union([
    Type.Literal('title'),
    Type.Literal('content'),
    Type.Literal('tags'),
    Type.Literal('permalink'),
    Type.Literal('file_path'),
  ]),
  text: Type.String(),
  highlights: Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 }), {
    description: 'Start and end of each place in `text`, in UTF-16 units.',
  }),
})

const SearchResult = Type.Object({
  title: Type.String(),
  type: ItemType,
  score: Type.Number({ description: 'The higher the better; comparable within one answer only.' }),
  entity: Type.String({ description: 'Permalink of the note, or its path when it has none.' }),
  external_id: Type.String({ description: 'Of the note.' }),
  permalink: nullable(Type.String({ description: 'Of the result itself.' })),
  content: Type.String({ description: 'Without frontmatter; cut at 10,000 characters.' }),
  matched_chunk: nullable(
    Type.String({ description: 'By meaning: the passages that answer, `---` on a line between each two.' }),
  ),
  snippets: Type.Array(Snippet),
  file_path: Type.String(),
  updated_at: Type.String({ format: 'date-time' }),
  metadata: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Frontmatter; of an observation its `tags` and `context`, of a relation its `to_name` and `context`.',
  }),
  entity_id: Type.Integer(),
  observation_id: Type.Optional(Type.Integer()),
  relation_id: Type.Optional(Type.Integer()),
  category: Type.Optional(Type.String()),
  from_entity: Type.Optional(Type.String()),
  to_entity: Type.Optional(nullable(Type.String({ description: 'Null while no note has that name.' }))),
  relation_type: Type.Optional(Type.String()),
})

export type SearchResult = Static<typeof SearchResult>

export const SearchDocument = Type.Object({
  results: Type.Array(SearchResult),
  current_page: Type.Integer(),
  page_size: Type.Integer(),
  total: Type.Integer({ description: 'With `vector` and `hybrid` 0, since that is not counted.' }),
  total_is_exact: Type.Boolean(),
  has_more: Type.Boolean(),
  degraded: Type.Optional(
    Type.Boolean({ description: 'True: meaning could not be used, or the index lacks the latest changes.' }),
  ),
})

export const ReindexAnswer = Type.Object({ status: Type.Literal('ok'), message: Type.String() })
