import { type Static, Type } from 'typebox'
import { nullable } from '../../../platform/http/input/nullable.ts'
import { ItemType } from '../../schema-parts.ts'
import { RetrievalMode } from '../schema-search.ts'

const row = {
  type: ItemType,
  title: Type.String(),
  entity: Type.String({ description: 'Permalink of the note, or its path when it has none.' }),
  external_id: Type.String({ description: 'Of the note.' }),
  entity_id: Type.Integer(),
  position: Type.Integer({ description: 'Of the observation or relation in its note; 0 for the note.' }),
  similarity: Type.Number({ description: 'Of its nearest chunk; 0 when none is near enough.' }),
}

const Candidate = Type.Object({
  rank: Type.Integer({ description: 'From 1.' }),
  ...row,
  score: Type.Number({ description: 'What decides the order.' }),
  word_score: nullable(
    Type.Number({ description: 'By words; null when they do not find it, 0 when they find it for what it has not.' }),
  ),
  chunks: Type.Array(Type.Object({ number: Type.Integer(), similarity: Type.Number() })),
  is_on_page: Type.Boolean(),
  rerank_score: nullable(Type.Number({ description: 'What the reranking service said; null when it was not asked.' })),
  via: nullable(
    Type.Object(
      { external_id: Type.String(), title: Type.String(), relation_type: Type.String() },
      { description: 'The better hit whose relation to this note added to its score, or brought it in.' },
    ),
  ),
})

const Rejection = Type.Object({
  ...row,
  reason: Type.Union([Type.Literal('below_min_similarity'), Type.Literal('filtered')]),
})

export const QueryTrace = Type.Object({
  retrieval_mode: RetrievalMode,
  degraded: Type.Boolean({
    description: 'Meaning was asked for and could not be used, or the index lacks the latest changes.',
  }),
  question: nullable(
    Type.Object({
      tree: nullable(Type.Record(Type.String(), Type.Unknown(), { description: 'How the text was understood.' })),
      words: Type.Array(Type.String()),
      tags: Type.Array(Type.String()),
      excluded_tags: Type.Array(Type.Array(Type.String()), { description: 'Lists of which no note has all.' }),
      is_relaxed: Type.Boolean({
        description:
          'Some of the words are enough, though OR was not written: no row had all, it is as people speak, or meaning has a say, too.',
      }),
    }),
  ),
  min_similarity: nullable(Type.Number()),
  depth: Type.Integer({ description: 'Rows by words, and chunks by meaning, that were looked at.' }),
  graph_expansion: Type.Boolean({ description: 'Relations of the best hits were followed.' }),
  candidates: Type.Array(Candidate),
  rejections: Type.Array(Rejection, { description: 'Near in meaning, but not answered; at most 100.' }),
})

export type QueryTrace = Static<typeof QueryTrace>

export const ChunksBody = Type.Object({
  identifier: Type.String({ minLength: 1, maxLength: 500, description: 'What resolve understands.' }),
})

const ChunkState = Type.Union(
  [
    Type.Literal('ready'),
    Type.Literal('pending'),
    Type.Literal('stale'),
    Type.Literal('missing'),
    Type.Literal('orphaned'),
  ],
  {
    description:
      'ready; pending, not embedded yet; stale, the vector is that of an older text; missing, embedded by nobody; orphaned, the vector of a text that is gone, or is no longer to have one.',
  },
)

export type ChunkState = Static<typeof ChunkState>

export const ChunksDocument = Type.Object({
  external_id: Type.String(),
  entity_id: Type.Integer(),
  permalink: nullable(Type.String()),
  title: Type.String(),
  embedding_provider: Type.String(),
  embedding_model: Type.String(),
  embedding_dimensions: nullable(Type.Integer({ description: 'Null while the provider was never reached.' })),
  is_waiting: Type.Boolean({
    description: 'The note changed and its vectors have not followed yet, or it is tried again.',
  }),
  chunks: Type.Array(
    Type.Object({
      key: Type.String({ description: 'type:id:n' }),
      type: ItemType,
      number: Type.Integer(),
      status: ChunkState,
      start: Type.Integer({ description: 'In the content of the note, in UTF-16 units; 0 for a part.' }),
      end: Type.Integer(),
      text: nullable(Type.String({ description: 'What is embedded; null when the text is gone.' })),
    }),
    { description: 'None of a note that says `embed: false`.' },
  ),
})

export type ChunksDocument = Static<typeof ChunksDocument>
