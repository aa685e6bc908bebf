import { type Static, Type } from 'typebox'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { nullable } from '../../platform/http/input/nullable.ts'
import { ContextResults, TIMEFRAME } from '../context/schema-context.ts'
import { optional } from '../schema-parts.ts'
import { dropUnstorable } from '../text/clean-text.ts'
import type { Prompt, PromptQuestion } from './prompt-service.ts'

export const LONGEST_TOPIC = 2_000

export const ContinueBody = Type.Object({
  topic: optional(
    Type.String({ maxLength: LONGEST_TOPIC, description: 'What to go on with; whatever changed lately without it.' }),
  ),
  timeframe: optional(Type.String({ ...TIMEFRAME, description: `${TIMEFRAME.description} Without a topic \`7d\`.` })),
  search_items_limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: 5, description: 'Notes.' })),
  depth: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 5, default: 1, description: 'How many relations away related notes may be.' }),
  ),
  related_items_limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10, default: 5, description: 'Related results of each note.' }),
  ),
})

export const SearchPromptBody = Type.Object({
  query: Type.Refine(
    Type.String({
      maxLength: LONGEST_TOPIC,
      description: 'As `text` of a search; not blank.',
      documented: { minLength: 1 },
    }),
    (text) => dropUnstorable(text).trim() !== '',
    () => 'must not be blank',
  ),
  timeframe: optional(Type.String(TIMEFRAME)),
})

const count = Type.Integer()
const time = Type.String({ format: 'date-time' })
const text = nullable(Type.String())

const contextMembers = {
  timeframe: text,
  has_results: Type.Boolean(),
  generated_at: time,
  results: ContextResults,
}

const shared = {
  prompt: Type.String({
    description: 'Markdown, at most 50,000 characters. What notes say, titles included, stands behind `>`.',
  }),
  metadata: Type.Object({
    query: text,
    timeframe: text,
    search_count: Type.Integer({ description: 'Notes that were found by the words; 0 without any.' }),
    context_count: Type.Integer({ description: 'Notes in `context.results`.' }),
    observation_count: count,
    relation_count: count,
    total_items: Type.Integer({ description: 'Notes, their observations and what is related to them.' }),
    search_limit: count,
    context_depth: count,
    related_limit: count,
    generated_at: time,
  }),
}

export const ContinueDocument = Type.Object({ ...shared, context: Type.Object({ topic: text, ...contextMembers }) })
export const SearchPromptDocument = Type.Object({ ...shared, context: Type.Object({ query: text, ...contextMembers }) })

/** What both answers share; `context` lacks what was asked. */
export function promptDocument(prompt: Prompt, asked: PromptQuestion) {
  const { topic, timeframe, results, searchCount } = prompt
  const generatedAt = toRfc3339(prompt.generatedAt)
  const related = results.flatMap(({ related_results: items }) => items)
  const observations = results.reduce((sum, result) => sum + result.observations.length, 0)
  const metadata: Static<typeof shared.metadata> = {
    query: topic,
    timeframe,
    search_count: searchCount,
    context_count: results.length,
    observation_count: observations,
    relation_count: related.filter(({ type }) => type === 'relation').length,
    total_items: results.length + observations + related.length,
    search_limit: asked.limit,
    context_depth: asked.depth,
    related_limit: asked.maxRelated,
    generated_at: generatedAt,
  }
  const context = { timeframe, has_results: results.length > 0, generated_at: generatedAt, results }
  return { prompt: prompt.text, context, metadata }
}
