import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Micros } from '../../platform/clock/clock.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import { partId } from '../note/part-id.ts'
import { contentsOf } from '../note/store-contents.ts'
import type { SearchIndex } from '../search/index/search-index.ts'
import {
  type ContextItem,
  type EntityItem,
  entityItem,
  type ObservationItem,
  observationItem,
  type RelationItem,
  relationItem,
} from './context-item.ts'
import { findRelated, type Related, type RelatedOptions } from './find-related.ts'
import { type Named, namedNotes, readName } from './named-notes.ts'
import { namedParts, placesOfParts } from './named-parts.ts'
import { Neighbourhood } from './neighbourhood.ts'
import {
  type ItemPage,
  type ItemPlace,
  type ItemType,
  pageOfItems,
  recentlyChanged,
  withCounts,
} from './primary-items.ts'
import { observationsFrom } from './store-context.ts'
import { type RelationEdge, relationsAt, relationsFrom } from './store-neighbours.ts'

export interface ContextQuery extends RelatedOptions {
  /** Null: whatever changed lately; `since` is set then. */
  name: string | null
  types: ReadonlySet<ItemType>
  page: number
  pageSize: number
}

export interface ContextResult {
  primary_result: ContextItem
  observations: ObservationItem[]
  related_results: (EntityItem | RelationItem)[]
}

export interface ContextPage {
  results: ContextResult[]
  hasMore: boolean
}

// An answer is for reading: the first pages of a long text, the first lines of what is only near.
const PRIMARY_CHARACTERS = 50_000
const RELATED_CHARACTERS = 500
const MOST_OBSERVATIONS = 1_000
const OBSERVED_CHARACTERS = 100_000
const RELATION_CHARACTERS = 100_000
// SQLite reads without giving others a turn.
const RESULTS_AT_ONCE = 10

export async function buildContext(
  db: Database,
  searchIndex: Pick<SearchIndex, 'caughtUp'>,
  project: Project,
  query: ContextQuery,
): Promise<ContextPage> {
  const named = query.name === null ? null : await readName(db, searchIndex, project, query.name)
  return db.read((snapshot) => contextOf(snapshot, project, named, query))
}

/** The same for the notes with these numbers, in this order. */
export function contextOfNotes(
  snapshot: Reader,
  project: Project,
  noteIds: readonly number[],
  query: Omit<ContextQuery, 'name'>,
): Promise<ContextPage> {
  return contextOf(snapshot, project, { ids: noteIds }, query)
}

/** One state of the data has to be read. */
async function contextOf(
  reader: Reader,
  project: Project,
  named: Named | null,
  query: Omit<ContextQuery, 'name'>,
): Promise<ContextPage> {
  const { places, hasMore } = await primaryItems(reader, project, named, query)
  const around = new Neighbourhood(reader, project.id)
  await around.know(places.map(({ noteId }) => noteId))
  const beginnings = places.filter(({ type }) => type === 'entity').map(({ noteId }) => noteId)
  const related = await findRelated(around, beginnings, query)
  const texts = await textsOf(reader, beginnings, related)
  const results: ContextResult[] = []
  for (const [at, run] of runsOf(places).entries()) {
    if (at % RESULTS_AT_ONCE === RESULTS_AT_ONCE - 1) await nextTurn()
    if (run.type !== 'entity') {
      const items =
        run.type === 'observation' ? observationItems(reader, around, run) : relationItems(reader, around, run)
      for (const item of await items) results.push({ primary_result: item, observations: [], related_results: [] })
      continue
    }
    const note = around.note(run.noteId)
    const found = related.shift() ?? []
    if (note === undefined) continue
    results.push({
      primary_result: entityItem(note, texts.primary.get(note.id) ?? null),
      observations: await observationItems(
        reader,
        around,
        { ...run, index: 0, count: MOST_OBSERVATIONS },
        OBSERVED_CHARACTERS,
      ),
      related_results: await relatedItems(reader, around, texts.related, found),
    })
  }
  return { results, hasMore }
}

async function primaryItems(
  reader: Reader,
  project: Project,
  named: Named | null,
  { types, page: number, pageSize: limit, since }: Omit<ContextQuery, 'name'>,
): Promise<ItemPage> {
  const offset = (number - 1) * limit
  const parts = async (name: string): Promise<ItemPage> => {
    const numbers = await namedParts(reader, project, name)
    const places = placesOfParts(numbers.slice(offset, offset + limit))
    return { places, hasMore: numbers.length > offset + limit }
  }
  if (named !== null && 'part' in named) return parts(named.part)
  const notes =
    named === null ? recentlyChanged(reader, project.id, since as Micros) : namedNotes(reader, project, named)
  const page = await pageOfItems(withCounts(reader, notes, types), types, { offset, limit })
  if (named === null || 'ids' in named || page.places.length > 0) return page
  // A pattern that no note is called like may be one of what stands in notes, as `coffee/espresso/requires/*`.
  return (await hasAny(namedNotes(reader, project, named))) ? page : parts(named.pattern)
}

async function hasAny(batches: AsyncIterable<readonly unknown[]>): Promise<boolean> {
  for await (const batch of batches) if (batch.length > 0) return true
  return false
}

interface Run extends ItemPlace {
  count: number
}

/** Neighbouring parts of one note are read together. */
function runsOf(places: readonly ItemPlace[]): Run[] {
  const runs: Run[] = []
  for (const place of places) {
    const last = runs.at(-1)
    const isSame = last?.noteId === place.noteId && last.type === place.type && place.position === undefined
    if (isSame && last.index + last.count === place.index) last.count++
    else runs.push({ ...place, count: 1 })
  }
  return runs
}

async function textsOf(reader: Reader, beginnings: readonly number[], related: readonly Related[][]) {
  const near = related.flat().flatMap((one) => (one.type === 'entity' ? [one.note.id] : []))
  return {
    primary: await contentsOf(reader, [...new Set(beginnings)], PRIMARY_CHARACTERS),
    related: await contentsOf(reader, [...new Set(near)], RELATED_CHARACTERS),
  }
}

/** The first ones, of so many characters together. */
async function observationItems(
  reader: Reader,
  around: Neighbourhood,
  run: Run,
  characters = Number.POSITIVE_INFINITY,
): Promise<ObservationItem[]> {
  const note = around.note(run.noteId)
  if (note === undefined) return []
  const items: ObservationItem[] = []
  let left = characters
  for (const row of await observationsFrom(reader, note.id, run.index, run.count)) {
    const item = observationItem(note, row)
    left -= item.category.length + item.content.length + (item.context?.length ?? 0)
    if (left < 0) break
    items.push(item)
  }
  return items
}

async function relationItems(reader: Reader, around: Neighbourhood, run: Run): Promise<RelationItem[]> {
  const { noteId, index, count, position } = run
  const rows =
    position === undefined
      ? await relationsFrom(reader, noteId, index, count)
      : await relationsAt(reader, [{ from_id: noteId, position }])
  await around.know(rows.flatMap(({ to_id: to }) => (to === null ? [] : [to])))
  return rows.flatMap((row) => itemOfEdge(around, row))
}

/** All of the notes, of which little is shown; of the relations the first ones, of so many characters together. */
async function relatedItems(
  reader: Reader,
  around: Neighbourhood,
  texts: ReadonlyMap<number, string>,
  related: readonly Related[],
): Promise<(EntityItem | RelationItem)[]> {
  const edges = related.flatMap((one) => (one.type === 'relation' ? [one.edge] : []))
  const rows = edges.length === 0 ? [] : await relationsAt(reader, edges)
  const said = new Map(rows.map((row) => [partId(row.from_id, row.position), row]))
  let left = RELATION_CHARACTERS
  return related.flatMap((one): (EntityItem | RelationItem)[] => {
    if (one.type === 'entity') return [entityItem(one.note, texts.get(one.note.id) ?? null)]
    const edge = said.get(one.edge.id)
    if (edge === undefined) return []
    left -= edge.relation_type.length + edge.to_name.length + (edge.context?.length ?? 0)
    return left < 0 ? [] : itemOfEdge(around, edge)
  })
}

function itemOfEdge(around: Neighbourhood, edge: RelationEdge): RelationItem[] {
  const from = around.note(edge.from_id)
  const to = edge.to_id === null ? null : (around.note(edge.to_id) ?? null)
  return from === undefined ? [] : [relationItem(edge, from, to)]
}
