import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { Project } from '../note/note.ts'
import { requireProject } from '../project/look-up.ts'
import { decodeChangesCursor, encodeChangesCursor } from './changes-cursor.ts'
import { CHANGES_TOPIC, hasReached, listChanges, type RecordedChange } from './store-changes.ts'

export interface ChangesPage {
  changes: RecordedChange[]
  cursor: string
  hasMore: boolean
}

export interface ChangesQuestion {
  projectId: string
  since: string | undefined
  limit: number
  /** How long to wait for a change when there is none. */
  waitMs: number
}

const DAY_MS = 86_400_000
/** For how long it is told that a note was deleted. */
export const TOMBSTONES_KEPT_MS = 90 * DAY_MS
// Times of other processes may differ from ours; they are forgotten this much later.
export const TOMBSTONES_SPARE_MS = DAY_MS
// PostgreSQL tells nobody of changes.
const LOOK_EVERY_MS = 500
const BEGINNING = 0

/** The last change of each note behind what the caller knows, waiting for one where it asks for that. */
export async function readChanges(
  { db, clock }: { db: Database; clock: Clock },
  { projectId, since, limit, waitMs }: ChangesQuestion,
  signal: AbortSignal,
): Promise<ChangesPage> {
  const endsAt = clock.elapsedMs() + waitMs
  const after = since === undefined ? BEGINNING : await positionOf(db, clock, since)
  for (;;) {
    const project = await requireProject(db, projectId)
    const bell = new Bell(db, clock, project)
    try {
      const toldAt = clock.now()
      const rows = await listChanges(db, project.id, after, limit + 1)
      const leftMs = endsAt - clock.elapsedMs()
      if (rows.length > 0 || leftMs <= 0 || signal.aborted) return pageOf(rows, limit, after, toldAt)
      await bell.rings(db.engine === 'sqlite' ? leftMs : Math.min(leftMs, LOOK_EVERY_MS), signal)
    } finally {
      bell.stop()
    }
  }
}

async function positionOf(db: Database, clock: Clock, since: string): Promise<number> {
  const cursor = decodeChangesCursor(since)
  if (cursor.toldAt < clock.now() - TOMBSTONES_KEPT_MS * MICROS_PER_MS || !(await hasReached(db, cursor.seq))) {
    throw new AppError(
      'gone',
      'The changes since this cursor are no longer known: read all notes again, beginning without since',
    )
  }
  return cursor.seq
}

function pageOf(rows: RecordedChange[], limit: number, after: number, toldAt: number): ChangesPage {
  const changes = rows.slice(0, limit)
  const seq = changes.at(-1)?.seq ?? after
  return { changes, cursor: encodeChangesCursor({ seq, toldAt }), hasMore: rows.length > limit }
}

/** Rings when the project changed after it was made. Made before one looks, so that no change falls in between. */
class Bell {
  readonly #clock: Clock
  readonly #unsubscribe: () => void
  #isRung = false
  #wake = () => {}

  constructor(db: Database, clock: Clock, project: Project) {
    this.#clock = clock
    this.#unsubscribe = db.subscribe(CHANGES_TOPIC, (body) => {
      if (body !== '' && body !== String(project.id)) return
      this.#isRung = true
      this.#wake()
    })
  }

  /** Resolves when it rings, when the time is over, or when nobody waits any more. */
  async rings(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#isRung || signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const cancel = this.#clock.after(ms, resolve)
    const onAbort = () => resolve()
    signal.addEventListener('abort', onAbort)
    await promise
    signal.removeEventListener('abort', onAbort)
    cancel()
  }

  stop(): void {
    this.#unsubscribe()
  }
}
