import { toRfc3339 } from '../../platform/clock/clock.ts'
import { firstTags, nameOf, observationDocument, relationDocument } from '../note/part-document.ts'
import { partId } from '../note/part-id.ts'
import { type StoredObservation, toObservation } from '../note/store-observations.ts'
import { cutText } from '../note/store-shown.ts'
import type { ContextNote } from './store-context.ts'
import type { RelationEdge } from './store-neighbours.ts'

/** Of an observation, as in the results of a search. */
export const LONGEST_CONTENT = 10_000

export function entityItem(note: ContextNote, content: string | null) {
  return {
    type: 'entity' as const,
    external_id: note.external_id,
    entity_id: note.id,
    permalink: note.permalink,
    title: note.title,
    note_type: note.note_type,
    content,
    file_path: note.file_path,
    created_at: toRfc3339(note.created_at),
    updated_at: toRfc3339(note.updated_at),
  }
}

export function observationItem(note: ContextNote, observation: StoredObservation) {
  const { id, category, content, tags, context, permalink } = observationDocument(
    note,
    toObservation(observation),
    observation.position,
  )
  const shown = cutText(content, LONGEST_CONTENT)
  return {
    type: 'observation' as const,
    observation_id: id,
    entity_id: note.id,
    entity_external_id: note.external_id,
    title: note.title,
    file_path: note.file_path,
    permalink,
    category,
    content: shown,
    tags: shown === content ? tags : firstTags(tags, LONGEST_CONTENT),
    context,
    created_at: toRfc3339(note.created_at),
    updated_at: toRfc3339(note.updated_at),
  }
}

export function relationItem(edge: RelationEdge, from: ContextNote, to: ContextNote | null) {
  const view = { ...edge, direction: 'outgoing' as const, from, to }
  const { permalink, to_name: name, context } = relationDocument(view)
  return {
    type: 'relation' as const,
    relation_id: partId(edge.from_id, edge.position),
    entity_id: from.id,
    title: `${from.title} → ${name}`,
    file_path: from.file_path,
    permalink,
    relation_type: edge.relation_type,
    from_entity: nameOf(from),
    from_entity_id: from.id,
    from_entity_external_id: from.external_id,
    to_entity: to === null ? null : nameOf(to),
    to_entity_id: to === null ? null : to.id,
    to_entity_external_id: to === null ? null : to.external_id,
    to_name: name,
    context,
    created_at: toRfc3339(from.created_at),
    updated_at: toRfc3339(from.updated_at),
  }
}

export type EntityItem = ReturnType<typeof entityItem>
export type ObservationItem = ReturnType<typeof observationItem>
export type RelationItem = ReturnType<typeof relationItem>
export type ContextItem = EntityItem | ObservationItem | RelationItem
