import type { Static } from 'typebox'
import { type Micros, toRfc3339 } from '../../platform/clock/clock.ts'
import type { ContextPage, ContextQuery } from './build-context.ts'
import type { ContextDocument, ContextFilterValues } from './schema-context.ts'
import { sinceOf } from './timeframe.ts'

/** `name` is null for recent activity; `part` of the request has the filters. */
export function contextQueryOf(
  name: ContextQuery['name'],
  filters: ContextFilterValues,
  now: Micros,
  part: 'query' | 'body' = 'query',
): ContextQuery {
  const { type, depth = 1, timeframe, page = 1, page_size: pageSize = 10, max_related: maxRelated = 10 } = filters
  const since = timeframe === undefined ? null : sinceOf(timeframe, now, part)
  return { name, types: new Set(type ?? ['entity']), depth, maxRelated, since, page, pageSize }
}

export function contextDocument(
  uri: string | null,
  filters: ContextFilterValues,
  { page, pageSize, depth }: ContextQuery,
  { results, hasMore }: ContextPage,
  now: Micros,
): Static<typeof ContextDocument> {
  const primary = results.map(({ primary_result }) => primary_result)
  const related = results.flatMap(({ related_results }) => related_results)
  const observations = results.flatMap((result) => result.observations)
  const count = (type: string) => [...primary, ...related].filter((item) => item.type === type).length
  return {
    results,
    metadata: {
      uri,
      types: filters.type ?? null,
      depth,
      timeframe: filters.timeframe ?? null,
      generated_at: toRfc3339(now),
      primary_count: primary.length,
      related_count: related.length,
      total_results: primary.length + related.length,
      total_relations: count('relation'),
      total_observations: count('observation') + observations.length,
    },
    page,
    page_size: pageSize,
    has_more: hasMore,
  }
}
