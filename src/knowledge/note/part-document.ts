import { hash } from 'node:crypto'
import type { RelationView } from '../link/store-relations.ts'
import { slug } from '../text/name/slug.ts'
import type { Note, NoteRef } from './note.ts'
import { partId } from './part-id.ts'
import type { EntityDocument } from './schema-notes.ts'
import type { Observation } from './store-observations.ts'

export type ObservationDocument = EntityDocument['observations'][number]
type RelationDocument = EntityDocument['relations'][number]

// Texts that begin alike must not get the same permalink.
const LONGEST_CONTENT = 200
const DIGITS = 12

/** `beginning`: that of the permalinks of the note's parts, for whoever shows many of them. */
export function observationDocument(
  note: Pick<Note, 'id' | 'permalink' | 'file_path'>,
  { category, content, context, tags }: Observation,
  position: number,
  beginning?: string,
): ObservationDocument {
  return {
    id: partId(note.id, position),
    category,
    content,
    tags,
    context,
    permalink: observationPermalink(note, category, content, beginning),
  }
}

export function observationPermalink(
  note: Pick<Note, 'permalink' | 'file_path'>,
  category: string,
  content: string,
  beginning?: string,
): string {
  const own = `observations/${category}/${content.slice(0, LONGEST_CONTENT)}`
  const permalink = beginning === undefined ? slug(`${nameOf(note)}/${own}`) : beginning + slug(own)
  return content.length <= LONGEST_CONTENT ? permalink : `${permalink}-${hash('sha256', content).slice(0, DIGITS)}`
}

/** Tags stand in the content, too: no more of them than the characters that are shown of it can have. */
export function firstTags(tags: string[], length: number): string[] {
  let left = length
  const end = tags.findIndex((tag) => {
    left -= tag.length
    return left < 0
  })
  return end === -1 ? tags : tags.slice(0, end)
}

/** `beginning`: that of the parts of the note that it comes from. */
export function relationDocument(relation: RelationView, beginning?: string): RelationDocument {
  const { direction, from, to, to_name: literal, relation_type: type } = relation
  return {
    id: partId(from.id, relation.position),
    direction,
    from_id: nameOf(from),
    to_id: to === null ? null : nameOf(to),
    to_name: to === null ? literal : to.title,
    relation_type: type,
    context: relation.context,
    permalink: relationPermalink(from, type, to === null ? literal : nameOf(to), beginning),
    from_external_id: from.external_id,
    to_external_id: to === null ? null : to.external_id,
    display: relation.display,
    anchor: relation.anchor,
  }
}

/** `to`: how answers name the target, or what was written for it. */
export function relationPermalink(
  from: Pick<NoteRef, 'permalink' | 'file_path'>,
  type: string,
  to: string,
  beginning?: string,
): string {
  const own = beginning === undefined ? '' : slug(`${type}/${to}`)
  // Where no letter is left of either, what is before them decides whether their hyphens stay.
  return own === '' ? slug(`${nameOf(from)}/${type}/${to}`) : beginning + own
}

/** What the permalinks of all parts of a note begin with. */
export function partsBeginning(note: Pick<NoteRef, 'permalink' | 'file_path'>): string {
  return slug(`${nameOf(note)}/x`).slice(0, -1)
}

/** How answers name a note where an id is not enough for people: its permalink, or its path when it has none. */
export function nameOf({ permalink, file_path: path }: Pick<NoteRef, 'permalink' | 'file_path'>): string {
  return permalink ?? path
}
