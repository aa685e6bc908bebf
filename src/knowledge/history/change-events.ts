import { isAppError } from '../../platform/errors/app-error.ts'
import { encodeChangesCursor } from './changes-cursor.ts'
import { type ChangesPage, changesAfter } from './changes-feed.ts'
import { changeDocument } from './schema-history.ts'

export interface ChangeEventsOptions {
  deps: Parameters<typeof changesAfter>[0]
  projectId: string
  /** How long nothing is sent when nothing changes. */
  heartbeatMs: number
  /** Asked before anything more is told. */
  isStillAllowed(): Promise<boolean>
  /** Nobody listens any more, or the server stops. */
  ended: AbortSignal
}

export const EVENT_STREAM = 'text/event-stream'
/** Changes that are read, and kept for a slow caller, at a time. */
export const CHANGES_PER_READ = 100
// Browsers wait this long before they connect again.
const RETRY_MS = 2_000

/** The feed of changes as server-sent events, from a first page on, until its caller may no longer read it. */
export async function* changeEvents(first: ChangesPage, options: ChangeEventsOptions): AsyncGenerator<string> {
  const { deps, projectId, heartbeatMs, isStillAllowed, ended } = options
  const question = { projectId, limit: CHANGES_PER_READ, waitMs: heartbeatMs }
  yield `retry: ${RETRY_MS}\n\n`
  for (let page: ChangesPage | null = first; page !== null; ) {
    yield eventsOf(page)
    page = await nextPage(page)
    if (ended.aborted || !(await isStillAllowed())) return
  }

  async function nextPage({ reached }: ChangesPage): Promise<ChangesPage | null> {
    try {
      return await changesAfter(deps, { ...question, after: reached }, ended)
    } catch (error) {
      // The project was deleted: there is nothing more to tell.
      if (isAppError(error, 'not_found')) return null
      throw error
    }
  }
}

function eventsOf({ changes, toldAt, reached, cursor }: ChangesPage): string {
  if (changes.length === 0) return silence(cursor)
  return changes
    .map((recorded) => {
      const id = encodeChangesCursor({ ...reached, seq: recorded.seq, toldAt })
      return `id: ${id}\nevent: change\ndata: ${JSON.stringify(changeDocument(recorded))}\n\n`
    })
    .join('')
}

/** A block without data is no event, yet its id counts: a caller that begins at `now`, or hears nothing for long, can go on behind it. */
function silence(cursor: string): string {
  return `: nothing new\nid: ${cursor}\n\n`
}
