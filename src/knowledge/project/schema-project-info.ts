/** What is answered about the inside of a project. */
import { type Static, Type } from 'typebox'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { nullable } from '../../platform/http/input/nullable.ts'
import type { EmbeddingStatus } from '../semantic/sync/embedding-status.ts'
import type { ProjectDetails } from './project.ts'
import type { ProjectFacts } from './project-facts.ts'
import type { FactNote } from './store-project-facts.ts'

const counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description })

const noteFields = {
  external_id: Type.String({ format: 'uuid' }),
  title: Type.String(),
  permalink: nullable(Type.String()),
  file_path: Type.String(),
}

const RecentNote = Type.Object({
  ...noteFields,
  note_type: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})

const EmbeddingInfo = Type.Object({
  status: Type.String({
    description: 'disabled, unavailable (the provider cannot be asked), indexing (notes wait for vectors) or ready',
  }),
  semantic_search_enabled: Type.Boolean(),
  embedding_provider: nullable(Type.String()),
  embedding_model: nullable(Type.String()),
  embedding_dimensions: nullable(Type.Integer()),
  total_indexed_entities: Type.Integer({ description: 'Notes with vectors.' }),
  total_entities_with_chunks: Type.Integer({ description: 'The same notes: what has vectors has chunks.' }),
  total_chunks: Type.Integer(),
  total_embeddings: Type.Integer(),
  pending_entities: Type.Integer({ description: 'Notes that changed since, or that are tried again.' }),
  failed_entities: Type.Integer({ description: 'Notes that could not be embedded and are not tried again.' }),
  failures: Type.Array(
    Type.Object({
      external_id: Type.String({ format: 'uuid' }),
      title: Type.String(),
      attempts: Type.Integer(),
      error: Type.String(),
    }),
    { description: 'The last ten notes that could not be embedded.' },
  ),
  problem: nullable(Type.String({ description: 'Why the provider cannot be asked.' })),
  reindex_recommended: Type.Boolean(),
  reindex_reason: nullable(Type.String()),
})

export const ProjectInfo = Type.Object({
  project_name: Type.String(),
  external_id: Type.String({ format: 'uuid' }),
  project_path: Type.String(),
  default_project: nullable(Type.String({ description: 'Its name.' })),
  available_projects: Type.Record(
    Type.String(),
    Type.Object({
      id: Type.Integer(),
      external_id: Type.String({ format: 'uuid' }),
      path: Type.String(),
      permalink: Type.String(),
      active: Type.Boolean(),
      is_default: Type.Boolean(),
    }),
    { description: 'All projects by their names.' },
  ),
  statistics: Type.Object({
    total_entities: Type.Integer(),
    total_observations: Type.Integer(),
    total_relations: Type.Integer(),
    total_unresolved_relations: Type.Integer(),
    note_types: counts('By canonical type; at most the 200 most frequent.'),
    observation_categories: counts('At most the 200 most frequent.'),
    relation_types: counts('At most the 200 most frequent.'),
    most_connected_entities: Type.Array(Type.Object({ ...noteFields, relation_count: Type.Integer() })),
    isolated_entities: Type.Integer({ description: 'Notes without any relation, from them or to them.' }),
  }),
  activity: Type.Object({
    recently_created: Type.Array(RecentNote),
    recently_updated: Type.Array(RecentNote),
    monthly_growth: Type.Record(
      Type.String(),
      Type.Object({
        entities: Type.Integer(),
        observations: Type.Integer(),
        relations: Type.Integer(),
        total: Type.Integer(),
      }),
      { description: 'The last twelve months by when notes say they were created, such as 2030-01.' },
    ),
  }),
  system: Type.Object({
    version: Type.String(),
    database: Type.String({ description: 'sqlite or postgres' }),
    database_path: Type.String({ description: 'Empty: where the data lies is the business of who runs the server.' }),
    database_size: Type.String({ description: 'Empty, as the path is.' }),
    mirror_enabled: Type.Boolean(),
    timestamp: Type.String({ format: 'date-time' }),
  }),
  embedding_status: EmbeddingInfo,
})

export const ProjectIndexQuery = Type.Object({
  force_full: Type.Optional(Type.Boolean({ description: 'Every note is read anew either way.', default: false })),
  run_in_background: Type.Optional(Type.Boolean({ description: 'False: answered when it is done.', default: true })),
})

export const ProjectIndexAnswer = Type.Object({
  status: Type.String({ description: 'index_started or index_completed' }),
  message: Type.String(),
  notes: Type.Integer({ description: 'How many there are to read, or were read.' }),
})

export const ProjectSyncStatus = Type.Object({
  new: Type.Integer({ description: 'Files of the mirror that are no notes yet.' }),
  modified: Type.Integer(),
  moved: Type.Integer(),
  deleted: Type.Integer(),
  total: Type.Integer({ description: 'Sum of the four.' }),
  note_count: Type.Integer(),
  total_files: Type.Integer({ description: 'As many as there are notes: each counts as a file.' }),
  observed_files: Type.Array(
    Type.Object({
      path: Type.String(),
      checksum: nullable(Type.String()),
      size: nullable(Type.Integer()),
    }),
    { description: 'Files seen on disk: none, in this version.' },
  ),
  mirror_enabled: Type.Boolean(),
  index: nullable(
    Type.Object(
      { state: Type.String({ description: 'waiting or running' }), done: Type.Integer() },
      { description: 'Null while nothing is read anew.' },
    ),
  ),
})

type Info = Static<typeof ProjectInfo>

export function toEmbeddingInfo(status: EmbeddingStatus): Info['embedding_status'] {
  return {
    status: status.status,
    semantic_search_enabled: status.status !== 'disabled',
    embedding_provider: status.provider,
    embedding_model: status.model,
    embedding_dimensions: status.dimensions,
    total_indexed_entities: status.notes,
    total_entities_with_chunks: status.notes,
    total_chunks: status.chunks,
    total_embeddings: status.embeddings,
    pending_entities: status.pending,
    failed_entities: status.failed,
    failures: status.failures,
    problem: status.problem,
    reindex_recommended: status.isReindexRecommended,
    reindex_reason: status.reindexReason,
  }
}

export function toAvailable(projects: readonly ProjectDetails[]): Info['available_projects'] {
  return Object.fromEntries(
    projects.map(({ id, externalId, name, path, permalink, isActive, isDefault }) => [
      name,
      { id, external_id: externalId, path, permalink, active: isActive, is_default: isDefault },
    ]),
  )
}

export function toStatistics(facts: ProjectFacts): Info['statistics'] {
  return {
    total_entities: facts.notes,
    total_observations: facts.observations,
    total_relations: facts.relations,
    total_unresolved_relations: facts.unresolved,
    note_types: facts.noteTypes,
    observation_categories: facts.categories,
    relation_types: facts.relationTypes,
    most_connected_entities: facts.mostConnected.map(({ note, relations }) => ({
      ...toNote(note),
      relation_count: relations,
    })),
    isolated_entities: facts.isolated,
  }
}

export function toActivity(facts: ProjectFacts): Info['activity'] {
  const growth = facts.months.entries().map(([month, { notes: entities, observations, relations }]) => {
    return [month, { entities, observations, relations, total: entities + observations + relations }] as const
  })
  return {
    recently_created: facts.recentlyCreated.map(toRecent),
    recently_updated: facts.recentlyUpdated.map(toRecent),
    monthly_growth: Object.fromEntries(growth),
  }
}

/** Figures only, for somebody who may not read notes: types and categories are words of notes, too. */
export function withoutNotes(info: Info): Info {
  const words = { note_types: {}, observation_categories: {}, relation_types: {} }
  return {
    ...info,
    statistics: { ...info.statistics, ...words, most_connected_entities: [] },
    activity: { ...info.activity, recently_created: [], recently_updated: [] },
    embedding_status: { ...info.embedding_status, failures: [] },
  }
}

function toNote({ external_id, title, permalink, file_path }: FactNote) {
  return { external_id, title, permalink, file_path }
}

function toRecent(note: FactNote): Static<typeof RecentNote> {
  return {
    ...toNote(note),
    note_type: note.type_key,
    created_at: toRfc3339(note.created_at),
    updated_at: toRfc3339(note.updated_at),
  }
}
