import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerKey } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { closedSignal } from '../../platform/http/answer/gone-signal.ts'
import { JSON_TYPE } from '../../platform/http/answer/send-hook.ts'
import type { StreamSlots } from '../../platform/http/answer/stream-slots.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { whileAllowed } from '../../platform/http/entry/still-allowed.ts'
import type { Database } from '../../platform/storage/database.ts'
import { streamSlots } from './snapshot-slots.ts'
import { type ChunkWriter, SnapshotStream } from './snapshot-stream.ts'

// The read-ahead and buffers on the way empty first: a caller that reads steadily over a slow line seems to take nothing meanwhile.
const IDLE_MS = 60_000
// Well within the time that others wait for their turn: those who have stopped reading must not keep everybody else from it.
const WANTED_IDLE_MS = 10_000
const LONGEST_MS = 10 * 60_000

/** All long answers of one database: graph, orphans, directory tree. */
export class SnapshotStreams {
  readonly slots: StreamSlots
  readonly #db: Database
  readonly #clock: Clock

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.slots = streamSlots(db, clock)
  }

  /** Waits for its turn. The stream ends by itself when the caller has `gone`. */
  async open(write: ChunkWriter, gone: AbortSignal, caller?: string): Promise<Readable> {
    const onReleased = await this.slots.enter(gone, caller)
    const limits = { idleMs: IDLE_MS, wantedIdleMs: WANTED_IDLE_MS, longestMs: LONGEST_MS }
    const isWanted = () => this.slots.isWantedFrom(caller)
    const stream = new SnapshotStream({ db: this.#db, clock: this.#clock, write, ...limits, isWanted, onReleased })
    if (gone.aborted) stream.destroy()
    else gone.addEventListener('abort', () => stream.destroy(), { once: true })
    return stream
  }

  /** The turn may come late and the answer last long: it is for who may read it then. */
  async send(request: FastifyRequest, reply: FastifyReply, write: ChunkWriter): Promise<FastifyReply> {
    const allowed: ChunkWriter = (snapshot) => whileAllowed(request, write(snapshot))
    const stream = await this.open(allowed, closedSignal(reply.raw), callerKey(callerOf(request)))
    return reply.header('content-type', JSON_TYPE).send(stream)
  }
}

const ofDatabase = new WeakMap<Database, SnapshotStreams>()

/** One for each database, since its connections are what is shared. */
export function snapshotStreams({ db, clock }: { db: Database; clock: Clock }): SnapshotStreams {
  let streams = ofDatabase.get(db)
  if (streams === undefined) {
    streams = new SnapshotStreams(db, clock)
    ofDatabase.set(db, streams)
  }
  return streams
}
