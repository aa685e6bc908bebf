import type { Micros } from '../../../platform/clock/clock.ts'
import { KIND_WORDS } from '../index/search-scope.ts'
import { KIND_NAMES, type RowKind } from '../row-number.ts'
import { composed } from '../words/unicode-forms.ts'
import type { SearchFilters } from './filters.ts'
import type { MetadataFilter } from './metadata-filter.ts'
import { metadataValues, passesFilters, typeKeys } from './metadata-values.ts'
import { categoryWords, filterWords, mustCompare, refusedWords, typeWords } from './metadata-words.ts'

/** What of a note filters look at. */
export interface FilteredNote {
  type_key: string
  updated_at: Micros
  metadata: string
}

/** Filters, ready to be applied: by words of the index as far as that goes, then by comparing. */
export interface PreparedFilters {
  /** Groups of scope words that a note and its parts have in common: what passes has one of each. */
  ofNotes: string[][]
  /** Likewise, of rows by themselves. */
  ofRows: string[][]
  /** Groups of scope words that a note and its parts have in common: what passes has not all of any. */
  without: string[][]
  /** Whether rows that have the words must be compared, too. */
  mustCompare: boolean
  /** Null: no row can pass. */
  kinds: ReadonlySet<RowKind> | null
  passes(note: FilteredNote): boolean
}

export function prepareFilters(filters: SearchFilters): PreparedFilters {
  const metadata = allMetadata(filters)
  const noteTypes = filters.noteTypes ?? []
  const types = new Set(noteTypes.flatMap(typeKeys).map(composed))
  const categories = filters.categories ?? []
  const { after } = filters
  const asked = filters.kinds?.length ? filters.kinds : KIND_NAMES
  // Nothing but an observation has a category.
  const kinds = asked.filter((kind) => categories.length === 0 || kind === 'observation')
  const ofNotes = filterWords(metadata)
  const ofRows: string[][] = []
  if (noteTypes.length > 0) ofNotes.push([...new Set(noteTypes.flatMap(typeWords))])
  if (categories.length > 0) ofRows.push([...new Set(categories.flatMap(categoryWords))])
  if (kinds.length < KIND_NAMES.length) ofRows.push([...new Set(kinds)].map((kind) => KIND_WORDS[kind]))
  return {
    ofNotes,
    ofRows,
    without: refusedWords(metadata),
    mustCompare: after !== undefined || metadata.some(mustCompare),
    kinds: kinds.length === 0 ? null : new Set(kinds),
    passes: (note) =>
      (types.size === 0 || types.has(composed(note.type_key))) &&
      (after === undefined || note.updated_at >= after) &&
      (metadata.length === 0 || passesFilters(metadataValues(JSON.parse(note.metadata)), note.type_key, metadata)),
  }
}

/** The short ways to ask for tags and a status stand back behind conditions for the same keys. */
function allMetadata({ metadata = [], tags = [], withoutTags = [], status }: SearchFilters): MetadataFilter[] {
  const has = (key: string) => metadata.some((filter) => filter.key === key)
  const all = [...metadata]
  if (tags.length > 0 && !has('tags')) all.push({ key: 'tags', condition: { op: 'all', values: tags } })
  for (const values of withoutTags) all.push({ key: 'tags', condition: { op: 'not_all', values } })
  if (status !== undefined && !has('status')) all.push({ key: 'status', condition: { op: 'in', values: [status] } })
  return all
}

/** Whether an observation of a category passes; each does where none is asked for. */
export function categoryFilter(categories: readonly string[]): (category: string) => boolean {
  const wanted = new Set(categories.map(composed))
  return (category) => wanted.size === 0 || wanted.has(composed(category))
}
