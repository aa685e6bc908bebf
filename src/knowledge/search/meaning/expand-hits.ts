import type { Reader } from '../../../platform/storage/database.ts'
import { type Link as Edge, relationsAround, relationsAt } from '../../context/store-neighbours.ts'
import type { Project } from '../../note/note.ts'
import { partId } from '../../note/part-id.ts'
import { mayPassNotes, type SearchFilters } from '../filter/filters.ts'
import { filterNotes } from '../find/find-rows.ts'
import { hitKey, type RatedHit, type Via } from '../hit.ts'

/** Notes of the best hits whose relations are followed. */
const SEEDS = 10
/** Notes that come in only by a relation, by one seed and altogether. */
const MOST_OF_SEED = 10
const MOST_NEIGHBOURS = 50
/** What a note gets of the score of the best one that it is related to. */
const SHARE = 0.3

/**
 * One hop over relations, whichever way they point: what is related to the best hits comes in, and what was found anyway rises. A
 * note gets its share of one seed only, so that being linked from everywhere counts no more than being linked once.
 */
export async function expandHits(
  reader: Reader,
  project: Project,
  hits: readonly RatedHit[],
  filters: SearchFilters,
): Promise<RatedHit[]> {
  const seeds = seedsOf(hits)
  if (seeds.size === 0) return [...hits]
  const edges = await relationsAround(reader, [...seeds.keys()], null)
  const linked = linkedNotes(seeds, edges)
  const own = new Set(hits.filter(({ kind }) => kind === 'note').map(({ noteId }) => noteId))
  const others = [...linked.keys()].filter((noteId) => !own.has(noteId))
  const passing = mayPassNotes(filters) ? await filterNotes(reader, project, others, filters) : new Set<number>()
  const added = mostOfEach(
    linked,
    others.filter((noteId) => passing.has(noteId)),
  )
  const vias = await viasOf(reader, linked, [...own, ...added])
  const risen = hits.map((hit) => {
    const link = hit.kind === 'note' ? linked.get(hit.noteId) : undefined
    return link === undefined ? hit : { ...hit, score: hit.score + link.share, ...vias.get(hit.noteId) }
  })
  const neighbours = added.map((noteId): RatedHit => {
    const { share } = linked.get(noteId) as Link
    const via = vias.get(noteId)
    return { noteId, kind: 'note', position: 0, score: share, words: null, similarity: 0, chunks: [], ...via }
  })
  return [...risen, ...neighbours].sort((one, other) => other.score - one.score || hitKey(one) - hitKey(other))
}

interface Link {
  share: number
  seed: number
  edge: Edge
}

/** How each of the notes came in, as far as one did so by a relation. */
async function viasOf(
  reader: Reader,
  linked: ReadonlyMap<number, Link>,
  noteIds: readonly number[],
): Promise<Map<number, { via: Via }>> {
  const links = noteIds.flatMap((noteId) => {
    const link = linked.get(noteId)
    return link === undefined ? [] : [{ ...link, noteId }]
  })
  const rows = await relationsAt(
    reader,
    links.map(({ edge }) => edge),
  )
  const types = new Map(rows.map((row) => [partId(row.from_id, row.position), row.relation_type]))
  return new Map(
    links.map(({ noteId, seed, edge }) => {
      const relationType = types.get(partId(edge.from_id, edge.position)) as string
      return [noteId, { via: { noteId: seed, relationType } }]
    }),
  )
}

/** The notes of the best hits, with the best score of each. */
function seedsOf(hits: readonly RatedHit[]): Map<number, number> {
  const seeds = new Map<number, number>()
  for (const { noteId, score } of hits) {
    if (seeds.size === SEEDS) break
    if (!seeds.has(noteId)) seeds.set(noteId, score)
  }
  return seeds
}

/** By note: the best seed that it is related to. Those of the best seed come first, in the order of the text. */
function linkedNotes(seeds: ReadonlyMap<number, number>, edges: readonly Edge[]): Map<number, Link> {
  const inOrder = edges.toSorted((one, other) => one.from_id - other.from_id || one.position - other.position)
  const linked = new Map<number, Link>()
  for (const [seed, score] of seeds) {
    for (const edge of inOrder) {
      const { from_id: from, to_id: to } = edge
      if (to === null || from === to || (from !== seed && to !== seed)) continue
      const noteId = from === seed ? to : from
      if (linked.has(noteId)) continue
      linked.set(noteId, { share: SHARE * score, seed, edge })
    }
  }
  return linked
}

function mostOfEach(linked: ReadonlyMap<number, Link>, noteIds: readonly number[]): number[] {
  const counts = new Map<number, number>()
  const some = noteIds.filter((noteId) => {
    const { seed } = linked.get(noteId) as Link
    const count = (counts.get(seed) ?? 0) + 1
    counts.set(seed, count)
    return count <= MOST_OF_SEED
  })
  return some.slice(0, MOST_NEIGHBOURS)
}
