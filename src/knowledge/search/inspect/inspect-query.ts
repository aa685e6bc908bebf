import type { Database } from '../../../platform/storage/database.ts'
import type { Project } from '../../note/note.ts'
import { nameOf } from '../../note/part-document.ts'
import { type HitNote, hitNotes } from '../answer/store-search-hits.ts'
import type { Page } from '../find/find-rows.ts'
import { type Hit, typeOfKind, type Via } from '../hit.ts'
import type { SearchRequest } from '../search-request.ts'
import type { SearchService } from '../search-service.ts'
import { candidateWindow } from './candidate-window.ts'
import type { QueryTrace } from './schema-inspect.ts'

const MOST_REJECTIONS = 100
const MOST_CHUNKS = 20

/** How a search comes to its answer. */
export async function inspectQuery(
  db: Database,
  service: SearchService,
  project: Project,
  request: SearchRequest,
  page: Page,
): Promise<QueryTrace> {
  const found = await service.find(project, request, page)
  const { start, end } = candidateWindow(page, found.offset)
  const hits = found.hits.slice(start, end)
  const rejected = found.rejected.slice(0, MOST_REJECTIONS)
  const shown = [...hits, ...rejected, ...hits.flatMap(({ via }) => via ?? [])]
  const notes = await hitNotes(db, project.id, [...new Set(shown.map(({ noteId }) => noteId))])
  const { question, isRelaxed } = found
  return {
    retrieval_mode: found.mode,
    degraded: found.isDegraded,
    question: question && {
      tree: question.tree as Record<string, unknown> | null,
      words: question.words,
      tags: question.tags,
      excluded_tags: question.excludedTags,
      is_relaxed: isRelaxed,
    },
    min_similarity: found.minSimilarity,
    depth: found.depth,
    graph_expansion: found.isExpanded,
    candidates: hits.flatMap((hit, at) => {
      const { score, words, similarity, chunks } = hit
      const rank = found.offset + start + at + 1
      const isOnPage = rank > page.offset && rank <= page.offset + page.limit
      return rowOf(notes, hit).map((row) => ({
        ...row,
        rank,
        similarity,
        score,
        word_score: words,
        chunks: chunks.slice(0, MOST_CHUNKS).map(({ number, similarity: own }) => ({ number, similarity: own })),
        is_on_page: isOnPage,
        rerank_score: hit.relevance ?? null,
        via: viaOf(notes, hit.via),
      }))
    }),
    rejections: rejected.flatMap((hit) => {
      return rowOf(notes, hit).map((row) => ({ ...row, similarity: hit.similarity, reason: hit.reason }))
    }),
  }
}

function viaOf(notes: ReadonlyMap<number, HitNote>, via: Via | undefined) {
  const note = via && notes.get(via.noteId)
  if (via === undefined || note === undefined) return null
  return { external_id: note.external_id, title: note.title, relation_type: via.relationType }
}

/** Nothing for a note that is gone. */
function rowOf(
  notes: ReadonlyMap<number, HitNote>,
  { noteId, kind, position }: Pick<Hit, 'noteId' | 'kind' | 'position'>,
) {
  const note = notes.get(noteId)
  if (note === undefined) return []
  const { title, external_id, id } = note
  return [{ type: typeOfKind(kind), title, entity: nameOf(note), external_id, entity_id: id, position }]
}
