import { betweenQuestions } from '../support/between-questions.ts'
import type { CallOptions } from '../support/test-client.ts'
import type { NotesApi } from './notes-api.ts'

export interface WireHit {
  title: string
  type: 'entity' | 'observation' | 'relation'
  score: number
  entity: string
  external_id: string
  permalink: string | null
  content: string
  matched_chunk: string | null
  snippets: { field: string; text: string; highlights: [number, number][] }[]
  file_path: string
  updated_at: string
  metadata: Record<string, unknown>
  entity_id: number
  observation_id?: number
  relation_id?: number
  category?: string
  from_entity?: string
  to_entity?: string | null
  relation_type?: string
}

export interface WireAnswer {
  results: WireHit[]
  current_page: number
  page_size: number
  total: number
  total_is_exact: boolean
  has_more: boolean
  degraded?: boolean
  detail: string
}

type SearchOptions = { status?: number; query?: string } & CallOptions

/** Searches the project of these notes; a text alone is a question. */
export async function search(
  notes: NotesApi,
  body: Record<string, unknown> | string,
  { status = 200, query = '', ...options }: SearchOptions = {},
): Promise<WireAnswer> {
  const asked = typeof body === 'string' ? { text: body } : body
  const path = `/v2/${notes.projectId}/search/${query}`
  return (await notes.api.post<WireAnswer>(path, status, { body: asked, ...options })).body
}

export function titles({ results }: WireAnswer): string[] {
  return results.map(({ title }) => title)
}

/** The text of a snippet with what is marked in angle brackets. */
export function marked({ text, highlights }: WireHit['snippets'][number]): string {
  return highlights.toReversed().reduce((shown, [start, end]) => {
    return `${shown.slice(0, start)}<${shown.slice(start, end)}>${shown.slice(end)}`
  }, text)
}

/** Asks until the vectors of a note are those of its text; the time limit of the test ends it otherwise. */
export async function untilEmbedded(
  notes: NotesApi,
  { external_id: identifier }: { external_id: string },
): Promise<void> {
  for (;;) {
    const { body } = await notes.api.post(`/v2/${notes.projectId}/inspect/chunks`, 200, { body: { identifier } })
    if (body.chunks.every(({ status }: { status: string }) => status === 'ready')) return
    await betweenQuestions()
  }
}
