import { sql } from 'kysely'
import { Bell } from '../clock/bell.ts'
import { type Clock, SystemClock } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Worker } from '../supervisor/supervisor.ts'
import type { Database, Reader } from './database.ts'

const EVERY_MS = 60_000
// One answer may be late for many reasons; of some, the quickest tells best.
const QUESTIONS = 3
const REMARKABLE_MS = 1_000
// Half of it is what the answer may be wrong by.
const WORST_ANSWER_MS = 1_000

export interface DatabaseTimeOptions {
  db: Database
  clock: SystemClock
  log: Logger
}

/**
 * Several servers on one PostgreSQL compare times that others of them wrote: until when a run is claimed, when a callback falls due.
 * Their machines may disagree, so all go by the clock of the database.
 */
export class DatabaseTime implements Worker {
  readonly name = 'clock'
  readonly #options: DatabaseTimeOptions
  #toldMs = 0
  #isLeftBehind = false

  constructor(options: DatabaseTimeOptions) {
    this.#options = options
  }

  /** To be called before anything is stamped. */
  async begin(): Promise<void> {
    this.#options.clock.begin(await this.#ask())
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const bell = new Bell(clock)
    clock.onJump = () => bell.ring()
    try {
      for (;;) {
        bell.ringIn(EVERY_MS)
        await bell.rings(signal)
        if (signal.aborted) return
        await this.#correct().catch((error: unknown) =>
          log.debug({ err: error }, 'the time of the database could not be asked'),
        )
      }
    } finally {
      clock.onJump = () => {}
      bell.stop()
    }
  }

  async #correct(): Promise<void> {
    const { clock, log } = this.#options
    const isFollowed = clock.correct(await this.#ask(WORST_ANSWER_MS))
    if (!isFollowed && !this.#isLeftBehind) {
      log.error('the clock of the database was set back by more than a minute: restart every server that uses it')
    }
    this.#isLeftBehind = !isFollowed
  }

  async #ask(worstMs = Number.POSITIVE_INFINITY): Promise<number> {
    const { db, clock, log } = this.#options
    const { nowMs, machineMs, tookMs } = await askTime(db, clock)
    if (tookMs > worstMs) throw new Error(`The database took ${Math.round(tookMs)} ms to tell the time`)
    const aheadMs = machineMs - nowMs
    if (Math.abs(aheadMs - this.#toldMs) > REMARKABLE_MS) {
      this.#toldMs = aheadMs
      const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1)
      const way = aheadMs > 0 ? 'ahead of' : 'behind'
      log.warn(
        `the clock of this machine is ${seconds} s ${way} that of the database, which is gone by: synchronize them`,
      )
    }
    return nowMs
  }
}

/** Null where there is nobody to agree with, or a test drives the clock. */
export function databaseTime(db: Database, clock: Clock, log: Logger): DatabaseTime | null {
  return db.engine === 'postgres' && clock instanceof SystemClock ? new DatabaseTime({ db, clock, log }) : null
}

interface Told {
  /** In milliseconds since the epoch, at the database and on this machine. */
  nowMs: number
  machineMs: number
  tookMs: number
}

async function askTime(reader: Reader, clock: SystemClock): Promise<Told> {
  let quickestMs = Number.POSITIVE_INFINITY
  let originMs = 0
  for (let asked = 0; asked < QUESTIONS; asked++) {
    const beganMs = clock.elapsedMs()
    const { rows } = await sql<{ ms: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(reader.query)
    const endedMs = clock.elapsedMs()
    if (endedMs - beganMs >= quickestMs) continue
    quickestMs = endedMs - beganMs
    originMs = (rows[0]?.ms as number) - (beganMs + endedMs) / 2
  }
  return { nowMs: originMs + clock.elapsedMs(), machineMs: clock.machineMs(), tookMs: quickestMs }
}
