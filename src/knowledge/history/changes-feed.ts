import { lastRestore } from '../../platform/backup/last-restore.ts'
import { beginInTurns } from '../../platform/clock/begin-in-turns.ts'
import { Bell } from '../../platform/clock/bell.ts'
import { type Clock, MICROS_PER_MS, type Micros } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Database } from '../../platform/storage/database.ts'
import { requireProject } from '../project/look-up.ts'
import { decodeChangesCursor, encodeChangesCursor } from './changes-cursor.ts'
import { watchOf } from './changes-watch.ts'
import { CHANGES_TOPIC, hasReached, lastChange, listChanges, type RecordedChange } from './store-changes.ts'

/** A place in the order of changes, and the restore since which that order holds. */
interface Position {
  seq: number
  restore: string | null
}

export interface ChangesPage {
  changes: RecordedChange[]
  /** When they were read: part of the cursor behind each of them. */
  toldAt: Micros
  /** Up to where this page has told everything. */
  reached: Position
  cursor: string
  hasMore: boolean
}

interface PageQuestion {
  projectId: string
  limit: number
  /** How long to wait for a change when there is none. */
  waitMs: number
}

export interface ChangesQuestion extends PageQuestion {
  since: string | undefined
}

interface FeedDeps {
  db: Database
  clock: Clock
}

const DAY_MS = 86_400_000
/** For how long it is told that a note was deleted. */
export const TOMBSTONES_KEPT_MS = 90 * DAY_MS
// Times of other processes may differ from ours; they are forgotten this much later.
export const TOMBSTONES_SPARE_MS = DAY_MS
// One change wakes all who wait, and each of them asks again at once. Node takes one new connection in a turn: turns must be short.
const LOOKS_PER_TURN = 2
const inTurn = beginInTurns(LOOKS_PER_TURN)
const BEGINNING = 0
/** In place of a cursor: nothing that changed before. */
const NOW = 'now'

/** The last change of each note behind what the caller knows, waiting for one where it asks for that. */
export async function readChanges(
  deps: FeedDeps,
  { since, ...question }: ChangesQuestion,
  signal: AbortSignal,
): Promise<ChangesPage> {
  return changesAfter(deps, { ...question, after: await positionOf(deps, question.projectId, since) }, signal)
}

/** The same behind a place in the order of changes. */
export async function changesAfter(
  deps: FeedDeps,
  { projectId, after, limit, waitMs }: PageQuestion & { after: Position },
  signal: AbortSignal,
): Promise<ChangesPage> {
  const { db, clock } = deps
  const endsAt = clock.elapsedMs() + waitMs
  for (;;) {
    await new Promise<void>((begin) => inTurn({ isGone: () => false, begin }))
    const project = await requireProject(db, projectId)
    // Before one looks, so that no change falls in between.
    const bell = new Bell(clock)
    const unsubscribe = db.subscribe(CHANGES_TOPIC, (body) => {
      if (body === '' || body === String(project.id)) bell.ring()
    })
    let leave: (() => void) | undefined
    try {
      const toldAt = clock.now()
      const rows = await listChanges(db, project.id, after.seq, limit + 1)
      const leftMs = endsAt - clock.elapsedMs()
      if (rows.length > 0 || leftMs <= 0 || signal.aborted) return pageOf(rows, limit, after, toldAt)
      bell.ringIn(leftMs)
      if (db.engine === 'postgres') leave = watchOf(deps).add({ projectId: project.id, after: after.seq, bell })
      await bell.rings(signal)
    } finally {
      leave?.()
      unsubscribe()
      bell.stop()
    }
  }
}

/** How far a caller has come. */
async function positionOf({ db, clock }: FeedDeps, projectId: string, since: string | undefined): Promise<Position> {
  const restore = await lastRestore(db)
  if (since === undefined) return { seq: BEGINNING, restore }
  if (since === NOW) {
    const project = await requireProject(db, projectId)
    return { seq: await lastChange(db, project.id), restore }
  }
  const cursor = decodeChangesCursor(since)
  const isTooOld = cursor.toldAt < clock.now() - TOMBSTONES_KEPT_MS * MICROS_PER_MS
  if (isTooOld || cursor.restore !== restore || !(await hasReached(db, cursor.seq))) {
    throw new AppError(
      'gone',
      'The changes since this cursor are no longer known: read all notes again, beginning without since',
    )
  }
  return { seq: cursor.seq, restore }
}

function pageOf(rows: RecordedChange[], limit: number, after: Position, toldAt: Micros): ChangesPage {
  const changes = rows.slice(0, limit)
  const reached = { ...after, seq: changes.at(-1)?.seq ?? after.seq }
  return { changes, toldAt, reached, cursor: encodeChangesCursor({ ...reached, toldAt }), hasMore: rows.length > limit }
}
