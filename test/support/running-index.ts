import { openSearchIndex } from '../../src/knowledge/search/index/open-search-index.ts'
import type { SearchIndex } from '../../src/knowledge/search/index/search-index.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { isAppError } from '../../src/platform/errors/app-error.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { silentLogger } from './silent-logger.ts'

const running = new WeakMap<Database, Promise<SearchIndex>>()

/** The search index of a database, running until the database is closed. */
export function runningIndex(db: Database): Promise<SearchIndex> {
  const index = running.get(db) ?? start(db)
  running.set(db, index)
  return index
}

async function start(db: Database): Promise<SearchIndex> {
  const index = openSearchIndex({ db, clock: new SystemClock(), log: silentLogger() })
  const stopped = await runUntilClosed(db, index)
  return {
    name: index.name,
    run: (signal) => index.run(signal),
    caughtUp: (project) => patiently(() => index.caughtUp(project), stopped),
    catchUp: (project) => patiently(() => index.catchUp(project), stopped),
    isCurrent: (project) => index.isCurrent(project),
  }
}

/** It comes to many rows late where the machine is busy, and says so after ten seconds: a test repeats the question. */
async function patiently<T>(ask: () => Promise<T>, stopped: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (stopped.aborted || !isAppError(error, 'unavailable')) throw error
    }
  }
}

/** Answers when it has everything that is there, with what is aborted when it ends. */
export async function runUntilClosed(db: Database, index: SearchIndex): Promise<AbortSignal> {
  const stopping = new AbortController()
  const ended = index.run(stopping.signal)
  const close = db.close.bind(db)
  db.close = async () => {
    stopping.abort()
    await ended
    await close()
  }
  await Promise.race([index.caughtUp(), ended.then(() => {})])
  return stopping.signal
}
