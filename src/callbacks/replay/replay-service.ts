import { create } from '@bufbuild/protobuf'
import type {
  DescribeBulkReplayRequest,
  DescribeBulkReplayResponse,
  ReplayCallbackExecutionRequest,
  ReplayCallbackExecutionResponse,
  StartBulkReplayRequest,
  StartBulkReplayResponse,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import {
  DescribeBulkReplayResponseSchema,
  ReplayCallbackExecutionResponseSchema,
  StartBulkReplayResponseSchema,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { newId, parseId } from '../../platform/ids/uuid.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { Call } from '../call.ts'
import type { NamespaceGate } from '../namespace/namespace-gate.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import type { StartRuns } from '../run/start-runs.ts'
import { countRuns } from '../run/store-list.ts'
import { findRun } from '../run/store-runs.ts'
import { checkKeyLength, requireText } from '../wire/check-ids.ts'
import { alreadyStarted, runNotFound } from '../wire/error-details.ts'
import { invalid } from '../wire/invalid.ts'
import { type ValidReplay, validateReplay } from '../wire/validate-requests.ts'
import { requireEnabled } from '../wire/validate-start.ts'
import { BULK_REPLAY, firstReplayWork, replayCondition } from './bulk-replay.ts'
import { findReplaySource, replayIn, replayStart } from './replay-run.ts'
import { findReplay, findReplayByRequest, insertReplay, type Replay, replayBounds } from './store-replays.ts'

export interface ReplayServiceOptions {
  db: Database
  clock: Clock
  cipher: Cipher
  jobs: JobEngine
  gate: NamespaceGate
  starts: StartRuns
}

const SHARED = { isolation: 'read committed' } as const

/** Closed runs once more: one of them, or all that a query finds. */
export class ReplayService {
  readonly #options: ReplayServiceOptions

  constructor(options: ReplayServiceOptions) {
    this.#options = options
  }

  async replay(request: ReplayCallbackExecutionRequest, _call: Call): Promise<ReplayCallbackExecutionResponse> {
    const { rules, namespace } = await this.#options.gate.enter(request.namespace)
    requireEnabled(rules.policy)
    const wish = validateReplay(request, rules.policy)
    return create(ReplayCallbackExecutionResponseSchema, { runId: await this.#replay(namespace(), wish) })
  }

  async startBulk(request: StartBulkReplayRequest, { closed: signal }: Call): Promise<StartBulkReplayResponse> {
    const { db, clock, gate } = this.#options
    const { rules, namespace: entered } = await gate.enter(request.namespace)
    requireEnabled(rules.policy)
    requireText('namespace', request.namespace)
    checkKeyLength('request_id', request.requestId, rules.policy.max_id_length)
    const { query } = request
    const searchAttributes = namedIn(query, rules.searchAttributes)
    const condition = replayCondition({ query, searchAttributes })
    const { id: namespaceId } = entered()
    const requestId = request.requestId === '' ? newId() : request.requestId
    const known = request.dryRun ? undefined : await findReplayByRequest(db, namespaceId, requestId)
    if (known !== undefined) return bulkStarted(known)
    const now = clock.now()
    const { matched, ...bounds } = await db.read(async (snapshot) => {
      const { RUNNING: _, ...closed } = Object.fromEntries(
        await countRuns(snapshot, { namespaceId, condition, signal }),
      )
      const total = Object.values(closed).reduce((sum, count) => sum + count, 0)
      return { matched: total, ...(await replayBounds(snapshot, namespaceId)) }
    })
    if (request.dryRun) return create(StartBulkReplayResponseSchema, { matched })
    const counts = { matched, started: 0, failed: 0, createdAt: now, finishedAt: null }
    const id = newId<'Replay'>()
    return this.#enqueue({ id, namespaceId, requestId, query, searchAttributes, ...bounds, ...counts })
  }

  async describeBulk(request: DescribeBulkReplayRequest, _call: Call): Promise<DescribeBulkReplayResponse> {
    const { db, gate } = this.#options
    const { namespace } = await gate.enter(request.namespace)
    requireText('namespace', request.namespace)
    requireText('job_id', request.jobId)
    const id = parseId<'Replay'>(request.jobId)
    if (id === undefined) throw invalid('job_id is not a valid UUID')
    const { id: namespaceId } = namespace()
    const replay = await findReplay(db, id)
    if (replay?.namespaceId !== namespaceId) throw new AppError('not_found', `bulk replay ${id} was not found`)
    const { matched, started, failed, finishedAt } = replay
    return create(DescribeBulkReplayResponseSchema, { matched, started, failed, done: finishedAt !== null })
  }

  async #replay(namespace: ActiveNamespace, wish: ValidReplay): Promise<string> {
    const { db, cipher, starts } = this.#options
    const { callbackId, runId, requestId, newCallbackId } = wish
    // The same request again: the run that it started may by now be the latest one of the callback it replays.
    const latest = requestId === '' ? undefined : await findRun(db, namespace.id, newCallbackId, null)
    if (latest?.requestId === requestId) {
      // Never what it started: that would be a later run than the one it names.
      if (latest.runId === runId) throw invalid('request_id is the one that started the run: a replay needs its own')
      return latest.runId
    }
    const source = await findReplaySource(db, namespace.id, callbackId, runId)
    if (source === undefined) throw runNotFound(callbackId, runId)
    const start = replayStart(cipher, namespace, source, { callbackId: newCallbackId, requestId })
    const answer = await db.write((tx) => replayIn(tx, starts, namespace, source, start), SHARED)
    if (answer.kind === 'conflict') throw alreadyStarted(newCallbackId, answer)
    return answer.kind === 'started' ? answer.run.runId : answer.runId
  }

  #enqueue(replay: Replay): Promise<StartBulkReplayResponse> {
    const { db, jobs } = this.#options
    return db.write(async (tx) => {
      if (await insertReplay(tx, replay)) {
        await jobs.enqueue(tx, { kind: BULK_REPLAY, key: replay.id, payload: firstReplayWork(replay) })
        return bulkStarted(replay)
      }
      // The same request came twice at a time.
      return bulkStarted((await findReplayByRequest(tx, replay.namespaceId, replay.requestId)) ?? replay)
    }, SHARED)
  }
}

function bulkStarted({ id, matched }: Replay): StartBulkReplayResponse {
  return create(StartBulkReplayResponseSchema, { jobId: id, matched })
}

/** Those whose name stands in the query: all that it can ask for. */
function namedIn(query: string, attributes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => query.includes(name)))
}
