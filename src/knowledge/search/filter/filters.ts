import type { Micros } from '../../../platform/clock/clock.ts'
import type { Question } from '../question/question.ts'
import type { RowKind } from '../row-number.ts'
import type { MetadataFilter } from './metadata-filter.ts'

/** What every row that is found must fulfil besides, in any Unicode form. Absent is the same as an empty list. */
export interface SearchFilters {
  /** As the caller wrote them; compared in their canonical form. */
  noteTypes?: string[]
  kinds?: RowKind[]
  /** Of observations, exactly so; nothing else has one. */
  categories?: string[]
  /** Notes changed at this time or later; the newest come first then. */
  after?: Micros
  metadata?: MetadataFilter[]
  /** All of them. */
  tags?: string[]
  /** Of each list not all of them. */
  withoutTags?: string[][]
  status?: string
}

/** What is looked for. */
export type Main =
  | { mode: 'text'; question: Question }
  | { mode: 'title'; text: string }
  | { mode: 'permalink'; text: string }
  | { mode: 'permalink_match'; pattern: string }
  /** The filters alone. */
  | { mode: 'none' }

/** Whether notes themselves may pass, not only their parts: nothing but an observation has a category. */
export function mayPassNotes({ kinds = [], categories = [] }: SearchFilters): boolean {
  return categories.length === 0 && (kinds.length === 0 || kinds.includes('note'))
}

export function hasTags({ tags, excludedTags }: Question): boolean {
  return tags.length > 0 || excludedTags.length > 0
}

/** The filters with those that a question names besides. */
export function withTagsOf({ tags, excludedTags }: Question, filters: SearchFilters): SearchFilters {
  const all = { ...filters }
  if (tags.length > 0) all.tags = [...new Set([...(filters.tags ?? []), ...tags])]
  if (excludedTags.length > 0) all.withoutTags = excludedTags
  return all
}
