import { type Clock, MICROS_PER_MS, MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import { type Again, type Job, type JobContext, jobKind } from '../../platform/jobs/job-kind.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { ActiveNamespace, NamespacePolicies } from '../namespace/namespace-policies.ts'
import type { Condition } from '../query/condition.ts'
import { fieldCatalogue } from '../query/fields.ts'
import { parseQuery } from '../query/parse-query.ts'
import type { ListKey } from '../run/list-query.ts'
import type { StartRuns } from '../run/start-runs.ts'
import { listRuns } from '../run/store-list.ts'
import { NO_BATCH, prepareReplayBatch, type ReplayBatch } from './replay-batch.ts'
import { replayIn } from './replay-run.ts'
import { addReplayProgress, findReplay, type Replay, type ReplayId } from './store-replays.ts'
import { findFreed, hasWaiting, insertWaiting, removeSomeWaiting, removeWaiting } from './store-waiting-replays.ts'

export interface ReplayWork {
  replayId: ReplayId
  /** The last run that is done, in the order of lists; null when only those are left whose callbacks were running. */
  after: ListKey | null
  /** Since when none of those could be started, and how long was waited before all of them were looked at again. */
  waiting?: Waiting
  /** They are waited for no more, and so many were given up so far. */
  givenUp?: number
}

interface Waiting {
  since: Micros
  pauseMs: number
  /** The look at those that wait goes on behind this one; from the beginning when absent. */
  before?: number
}

/** Starts every closed run that a query finds once more. */
export const BULK_REPLAY = jobKind<ReplayWork>('callbacks.bulk-replay', { concurrency: 2, maxAttempts: 100 })

const RUNS = 100
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/** How long those that wait are waited for while none of them can be started. */
const PATIENCE_MICROS = 3_600 * MICROS_PER_SECOND

export interface BulkReplayDeps {
  db: Database
  clock: Clock
  cipher: Cipher
  namespaces: NamespacePolicies
  starts: StartRuns
}

/** To be called once, before the engine starts. */
export function registerBulkReplay(jobs: JobEngine, deps: BulkReplayDeps): void {
  jobs.register(BULK_REPLAY, (job, context) => runBulkReplay(deps, job, context))
}

/** From the run that closed last before the request, backwards. */
export function firstReplayWork({ id, closedUntil }: Pick<Replay, 'id' | 'closedUntil'>): ReplayWork {
  return { replayId: id, after: { sortAt: closedUntil, createdAt: Number.MAX_SAFE_INTEGER, runId: '' } }
}

export function replayCondition({
  query,
  searchAttributes,
}: Pick<Replay, 'query' | 'searchAttributes'>): Condition | null {
  return parseQuery(query, fieldCatalogue(searchAttributes), { allowsGroupBy: false }).condition
}

/** What one try of the job does. */
interface Step {
  batch: ReplayBatch
  /** Keeps what was found out about the batch. `blocked`: callbacks that run. */
  settle(tx: Transaction, blocked: readonly number[], now: Micros): Promise<Settled>
}

interface Settled {
  /** Where to go on: null at the end. */
  again: Again<ReplayWork> | null
  /** How many of those that wait were given up. */
  givenUp?: number
}

/**
 * One batch, the counts and the place to go on from, in one transaction: a batch is started wholly or not at all. What each
 * run is started with follows from the job and the run, so not even a batch that is repeated starts one twice.
 */
async function runBulkReplay(
  deps: BulkReplayDeps,
  { payload }: Job<ReplayWork>,
  { signal, log, complete }: JobContext<ReplayWork>,
): Promise<void> {
  const { db, clock, starts } = deps
  const replay = await findReplay(db, payload.replayId)
  if (replay === undefined || replay.finishedAt !== null) return
  const namespace = await findLive(deps.namespaces, replay)
  const { batch, settle } =
    namespace === null ? forgetStep(replay.id) : await nextStep(deps, namespace, replay, payload, signal)
  const { again, givenUp } = await db.write(
    async (tx) => {
      const blocked: number[] = []
      for (const { source, start } of batch.ready) {
        const answer = await replayIn(tx, starts, namespace as ActiveNamespace, source, start)
        if (answer.kind === 'conflict') blocked.push(source.run.runNumber)
      }
      const now = clock.now()
      const { again, givenUp = 0 } = await settle(tx, blocked, now)
      await addReplayProgress(tx, replay.id, {
        started: batch.ready.length - blocked.length,
        failed: batch.failed + givenUp,
        finishedAt: again === null ? now : null,
      })
      await complete(tx, again ?? undefined)
      return { again, givenUp: givenUp + (payload.givenUp ?? 0) }
    },
    { alone: true, isolation: 'read committed' },
  )
  const { id, matched, createdAt } = replay
  if (batch.problem !== null) log.warn({ err: batch.problem, replay: id, failed: batch.failed }, 'not replayed')
  if (again !== null) return
  if (givenUp > 0) log.warn({ replay: id, failed: givenUp }, 'not replayed: other runs of the callbacks did not close')
  log.info({ replay: id, matched, seconds: (clock.now() - createdAt) / MICROS_PER_SECOND }, 'a bulk replay is done')
}

/** Nothing is started any more, and nobody asks how many that are. */
function forgetStep(replayId: ReplayId): Step {
  return {
    batch: NO_BATCH,
    async settle(tx, _blocked, now) {
      const { isLast } = await removeSomeWaiting(tx, replayId)
      return { again: isLast ? null : { againAt: now, payload: { replayId, after: null } } }
    },
  }
}

/** A part of those that wait: all of them may be many, and others write meanwhile. `before`: how many were given up already. */
async function giveUp(tx: Transaction, replayId: ReplayId, now: Micros, before: number): Promise<Settled> {
  const { givenUp, isLast } = await removeSomeWaiting(tx, replayId)
  if (isLast) return { again: null, givenUp }
  return { again: { againAt: now, payload: { replayId, after: null, givenUp: before + givenUp } }, givenUp }
}

async function nextStep(
  { db, cipher }: BulkReplayDeps,
  namespace: ActiveNamespace,
  replay: Replay,
  { after, waiting, givenUp }: ReplayWork,
  signal: AbortSignal,
): Promise<Step> {
  const { id: replayId } = replay
  const prepare = (runNumbers: readonly number[]) =>
    prepareReplayBatch({ reader: db, cipher, namespace, replayId, signal }, runNumbers)
  if (givenUp !== undefined) {
    return { batch: NO_BATCH, settle: (tx, _blocked, now) => giveUp(tx, replayId, now, givenUp) }
  }
  if (after === null) {
    const { runNumbers, gone, end } = await findFreed(db, replayId, waiting?.before ?? Number.MAX_SAFE_INTEGER, RUNS)
    const batch = await prepare(runNumbers)
    const looked = runNumbers.slice(0, batch.looked)
    const before = looked.length < runNumbers.length ? (looked.at(-1) ?? null) : end
    return { batch, settle: settleWaiting(replayId, { looked, gone, before }, waiting) }
  }
  const query = { namespaceId: replay.namespaceId, condition: replayCondition(replay), signal }
  const found = await listRuns(db, query, { after, limit: RUNS })
  const ours = found.filter(({ runNumber }) => runNumber <= replay.runNumberUntil)
  const batch = await prepare(ours.map(({ runNumber }) => runNumber))
  const last = batch.looked === ours.length ? found.at(-1) : ours[batch.looked - 1]
  const isLast = found.length < RUNS && last === found.at(-1)
  return {
    batch,
    async settle(tx, blocked, now) {
      await insertWaiting(tx, replayId, blocked)
      if (!isLast && last !== undefined) return { again: { againAt: now, payload: { replayId, after: last.key } } }
      if (!(await hasWaiting(tx, replayId))) return { again: null }
      return laterAgain(replayId, now, { since: now, pauseMs: FIRST_PAUSE_MS })
    },
  }
}

interface Look {
  looked: readonly number[]
  gone: readonly number[]
  /** Where to go on; null when all that wait were looked at, and the next look begins with the latest again. */
  before: number | null
}

function settleWaiting(
  replayId: ReplayId,
  { looked, gone, before }: Look,
  waiting: Waiting | undefined,
): Step['settle'] {
  return async (tx, blocked, now) => {
    const done = looked.filter((runNumber) => !blocked.includes(runNumber))
    await removeWaiting(tx, replayId, [...done, ...gone])
    const { since, pauseMs } = done.length === 0 && waiting !== undefined ? waiting : { since: now, pauseMs: 0 }
    if (before !== null) return laterAgain(replayId, now, { since, pauseMs, before })
    if (!(await hasWaiting(tx, replayId))) return { again: null }
    if (now - since >= PATIENCE_MICROS) return giveUp(tx, replayId, now, 0)
    const longer = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)
    return laterAgain(replayId, now, { since, pauseMs: longer })
  }
}

function laterAgain(replayId: ReplayId, now: Micros, waiting: Waiting): Settled {
  const pauseMs = waiting.before === undefined ? waiting.pauseMs : 0
  return { again: { againAt: now + pauseMs * MICROS_PER_MS, payload: { replayId, after: null, waiting } } }
}

/** Null when it was deleted: nothing is started in it any more. */
async function findLive(namespaces: NamespacePolicies, { namespaceId }: Replay): Promise<ActiveNamespace | null> {
  const namespace = await namespaces.findById(namespaceId)
  const named = namespace && (await namespaces.find(namespace.name))
  return named?.id === namespaceId ? named : null
}
