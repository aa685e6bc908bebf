import type { Micros } from '../../platform/clock/clock.ts'
import { momentOf } from '../context/timeframe.ts'
import { malformed } from '../malformed.ts'
import { dropUnstorable } from '../text/clean-text.ts'
import { hasTags, type Main, type SearchFilters, withTagsOf } from './filter/filters.ts'
import { parseMetadataFilters } from './filter/metadata-filter.ts'
import { parseQuestion } from './question/question.ts'
import type { RowKind } from './row-number.ts'
import type { RetrievalMode, SearchInput } from './schema-search.ts'

/** What a caller wants to find, read and judged. */
export interface SearchRequest {
  main: Main
  /** What was asked in words; empty when it was not. */
  text: string
  filters: SearchFilters
  /** Null: the caller did not say. */
  retrieval: RetrievalMode | null
  minSimilarity: number | null
  /** Whether relations of the best hits are followed. Null: the caller did not say. */
  isExpanded: boolean | null
  /** The text names tags and nothing else, or asks for everything. */
  isWordless: boolean
  /** Nothing is asked for, so nothing is found. */
  isEmpty: boolean
}

/** As a text: everything that passes the filters. */
const EVERYTHING = '*'
const MODES = ['text', 'title', 'permalink', 'permalink_match'] as const
const KIND_OF = { entity: 'note', observation: 'observation', relation: 'relation' } as const satisfies Record<
  string,
  RowKind
>

export function readSearch(input: SearchInput, now: Micros): SearchRequest {
  const asked = MODES.filter((mode) => clean(input[mode]) !== '')
  if (asked.length > 1) {
    throw malformed(['body'], `Ask for one of ${MODES.join(', ')}: there are ${asked.join(' and ')}`)
  }
  const text = clean(input.text)
  const wanted = mainOf(asked[0], input)
  const own = filtersOf(input, now)
  const isText = wanted.mode === 'text'
  const isEverything = isText && text === EVERYTHING
  const filters = isText ? withTagsOf(wanted.question, own) : own
  if (isEverything) filters.kinds ??= Object.values(KIND_OF)
  // `tag:a` alone is a question for the tag; a text of nothing but other punctuation is none.
  const isWordless = isEverything || (isText && wanted.question.tree === null && hasTags(wanted.question))
  const main: Main = isWordless ? { mode: 'none' } : wanted
  const isEmpty =
    main.mode === 'text' ? main.question.tree === null : main.mode === 'none' && Object.keys(filters).length === 0
  return {
    main,
    text: main.mode === 'text' ? text : '',
    filters,
    retrieval: input.retrieval_mode ?? null,
    minSimilarity: input.min_similarity ?? null,
    isExpanded: input.graph_expansion ?? null,
    isWordless,
    isEmpty,
  }
}

function mainOf(mode: (typeof MODES)[number] | undefined, input: SearchInput): Main {
  if (mode === undefined) return { mode: 'none' }
  const text = clean(input[mode])
  if (mode === 'text') return { mode, question: parseQuestion(text) }
  return mode === 'permalink_match' ? { mode, pattern: text } : { mode, text }
}

/** Only what really narrows the search. */
function filtersOf(input: SearchInput, now: Micros): SearchFilters {
  const filters: SearchFilters = {}
  const noteTypes = list(input.note_types)
  const categories = list(input.categories)
  const tags = list(input.tags)
  const metadata = parseMetadataFilters(input.metadata_filters ?? undefined)
  const status = clean(input.status)
  if (noteTypes.length > 0) filters.noteTypes = noteTypes
  if (input.entity_types?.length) filters.kinds = [...new Set(input.entity_types.map((type) => KIND_OF[type]))]
  if (categories.length > 0) filters.categories = categories
  if (tags.length > 0) filters.tags = tags
  if (metadata.length > 0) filters.metadata = metadata
  if (status !== '') filters.status = status
  const after = clean(input.after_date)
  if (after !== '') filters.after = afterOf(after, now)
  return filters
}

function afterOf(text: string, now: Micros): Micros {
  const after = momentOf(text, now)
  // Whatever is longer ago than a time can be stored is the same to every note, and PostgreSQL refuses the number.
  if (after !== undefined) return Math.max(after, Number.MIN_SAFE_INTEGER)
  throw malformed(['body', 'after_date'], 'after_date is not understood: use an ISO date, "7d" or "2 weeks ago"')
}

function list(values: readonly string[] | null | undefined): string[] {
  return (values ?? []).map(clean).filter((value) => value !== '')
}

function clean(text: string | null | undefined): string {
  return dropUnstorable(text ?? '').trim()
}
