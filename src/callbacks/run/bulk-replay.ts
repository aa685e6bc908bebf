import { type Clock, MICROS_PER_SECOND } from '../../platform/clock/clock.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import { type Job, type JobContext, jobKind } from '../../platform/jobs/job-kind.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { ActiveNamespace, NamespacePolicies } from '../namespace/namespace-policies.ts'
import type { Condition } from '../query/condition.ts'
import { fieldCatalogue } from '../query/fields.ts'
import { parseQuery } from '../query/parse-query.ts'
import type { ValidStart } from '../wire/validate-start.ts'
import { replayIn, replayStart } from './replay-run.ts'
import type { StartRuns } from './start-runs.ts'
import { type ListedRun, type ListKey, listRuns } from './store-list.ts'
import {
  addReplayProgress,
  findReplay,
  findReplaySources,
  type Replay,
  type ReplayId,
  type ReplaySource,
} from './store-replays.ts'

export interface ReplayWork {
  replayId: ReplayId
  /** The last run that is done, in the order of lists. */
  after: ListKey
}

/** Starts every closed run that a query finds once more. */
export const BULK_REPLAY = jobKind<ReplayWork>('callbacks.bulk-replay', { concurrency: 2, maxAttempts: 100 })

// What one transaction starts at most: others wait behind it, and all of it is in memory.
const RUNS = 100
const BYTES = 8 * 1024 * 1024
const READ_AT_ONCE = 5

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
  const batch = namespace === null ? NOTHING_LEFT : await prepareBatch(deps, namespace, replay, payload.after, signal)
  await db.write(
    async (tx) => {
      let { failed } = batch
      for (const { source, start } of batch.ready) {
        const answer = await replayIn(tx, starts, namespace as ActiveNamespace, source, start)
        if (answer.kind === 'conflict') failed++
      }
      const started = batch.ready.length + batch.failed - failed
      const now = clock.now()
      await addReplayProgress(tx, replay.id, { started, failed, finishedAt: batch.last === null ? now : null })
      await complete(tx, batch.last === null ? undefined : { againAt: now, payload: { ...payload, after: batch.last } })
    },
    { alone: true, isolation: 'read committed' },
  )
  if (batch.problem !== null) log.warn({ err: batch.problem, replay: replay.id, failed: batch.failed }, 'not replayed')
  if (batch.last !== null) return
  const seconds = (clock.now() - replay.createdAt) / MICROS_PER_SECOND
  log.info({ replay: replay.id, matched: replay.matched, seconds }, 'a bulk replay is done')
}

interface Batch {
  /**
   * In the order of their callbacks: two replays that meet wait for each other in one direction. Of several runs of one
   * callback the last one comes first, and the others fail: a callback runs once at a time.
   */
  ready: readonly { source: ReplaySource; start: ValidStart }[]
  failed: number
  /** Why the first of those failed. */
  problem: unknown
  /** The last run that was looked at; null when none is left behind it. */
  last: ListKey | null
}

const NOTHING_LEFT: Batch = { ready: [], failed: 0, problem: null, last: null }

/** Everything that can be done before the transaction, which others wait for. */
async function prepareBatch(
  { db, cipher }: BulkReplayDeps,
  namespace: ActiveNamespace,
  replay: Replay,
  after: ListKey,
  signal: AbortSignal,
): Promise<Batch> {
  const query = { namespaceId: replay.namespaceId, condition: replayCondition(replay) }
  const found = await listRuns(db, query, { after, limit: RUNS })
  const ready: { source: ReplaySource; start: ValidStart }[] = []
  let [failed, bytes, problem]: [number, number, unknown] = [0, 0, null]
  let last: ListedRun | undefined
  const isOurs = ({ runNumber }: ListedRun) => runNumber <= replay.runNumberUntil
  for (let from = 0; from < found.length && bytes <= BYTES; from += READ_AT_ONCE) {
    signal.throwIfAborted()
    const some = found.slice(from, from + READ_AT_ONCE)
    const sources = await findReplaySources(
      db,
      some.filter(isOurs).map(({ runNumber }) => runNumber),
    )
    for (const { runNumber, callbackId, runId } of some) {
      const source = sources.get(runNumber)
      // Deleted meanwhile, or none of those that were asked for.
      if (source === undefined) continue
      bytes += source.input.completion.length
      try {
        const names = { callbackId, requestId: `${replay.id}:${runId}` }
        ready.push({ source, start: replayStart(cipher, namespace, source, names) })
      } catch (error) {
        failed++
        problem ??= error
      }
    }
    last = some.at(-1)
  }
  const isLast = found.length < RUNS && last === found.at(-1)
  ready.sort((a, b) => compareTexts(a.start.callbackId, b.start.callbackId))
  return { ready, failed, problem, last: isLast || last === undefined ? null : last.key }
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Null when it was deleted: nothing is started in it any more. */
async function findLive(namespaces: NamespacePolicies, { namespaceId }: Replay): Promise<ActiveNamespace | null> {
  const namespace = await namespaces.findById(namespaceId)
  const named = namespace && (await namespaces.find(namespace.name))
  return named?.id === namespaceId ? named : null
}
