import type { StartCallbackExecutionRequest } from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import type { Clock } from '../../platform/clock/clock.ts'
import { newId } from '../../platform/ids/uuid.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { Dispatcher } from '../deliver/dispatcher.ts'
import { bodyBytes, completionBody } from '../destination/send/completion-body.ts'
import { ensureDestination, type NumberedDestination, removeNewDestination } from '../destination/store-destinations.ts'
import type { Entered } from '../namespace/namespace-gate.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import { startRun } from '../state/run-record.ts'
import { alreadyStarted, namespaceNotFound } from '../wire/error-details.ts'
import type { NexusCallback } from '../wire/messages.ts'
import { type ValidStart, validateStart } from '../wire/validate-start.ts'
import {
  dueAtOf,
  SMALL_BODY_BYTES,
  SMALL_INPUT_BYTES,
  type StartAnswer,
  type StoredRun,
  type WaitingRun,
} from './run.ts'
import { insertRun } from './store-start.ts'
import { sealCallback } from './stored-callback.ts'

const MOST_DESTINATIONS = 10_000
// To copy what lies in less memory would cost every start more than it saves.
const MOST_AROUND_BYTES = 4 * SMALL_INPUT_BYTES

export interface StartRunsOptions {
  db: Database
  clock: Clock
  log: Logger
  cipher: Cipher
  dispatcher: Dispatcher
}

/** Starts runs: checked, stored, handed to the dispatcher once they are on disk. */
export class StartRuns {
  readonly #options: StartRunsOptions
  /** Numbers of destinations, which never change. */
  readonly #destinations = new Map<string, number>()

  constructor(options: StartRunsOptions) {
    this.#options = options
  }

  async start(request: StartCallbackExecutionRequest, entered: Entered): Promise<{ runId: string }> {
    const start = validateStart(request, entered.rules)
    const namespace = entered.namespace()
    if (start.isLarge) {
      const { callbackId, completionBytes } = start
      const facts = { namespace: namespace.name, callbackId, bytes: completionBytes.length }
      this.#options.log.warn(facts, 'a large completion was given')
    }
    return this.#store(namespace, start)
  }

  async #store(namespace: ActiveNamespace, start: ValidStart): Promise<{ runId: string }> {
    const answer = await this.#options.db.write((tx) => this.startIn(tx, namespace, start), {
      isolation: 'read committed',
    })
    if (answer.kind === 'conflict') throw alreadyStarted(start.callbackId, answer)
    return { runId: answer.kind === 'started' ? answer.run.runId : answer.runId }
  }

  /**
   * In a transaction of the caller, which must be `read committed` on PostgreSQL. That the namespace was deleted meanwhile is
   * thrown: nothing of the start must be left.
   */
  async startIn(tx: Transaction, namespace: ActiveNamespace, start: ValidStart): Promise<StartAnswer> {
    const { clock, cipher, dispatcher } = this.#options
    const now = clock.now()
    const runId = newId<'Run'>()
    const record = startRun(start, now)
    const dueAt = dueAtOf(record, now) ?? now
    const destination = await this.#destination(tx, namespace, start.destination)
    const answer = await insertRun(tx, {
      namespaceId: namespace.id,
      callbackId: start.callbackId,
      runId,
      requestId: start.requestId === '' ? newId() : start.requestId,
      destinationId: destination.id,
      timeoutMicros: start.timeoutMicros,
      record,
      dueAt,
      callback: sealCallback(cipher, start.callbackBytes, runId),
      completion: start.completionBytes,
      searchAttributes: start.searchAttributesBytes,
      attributes: start.attributeRows,
    })
    if (answer === null) throw namespaceNotFound(namespace.name)
    if (answer.kind !== 'started') {
      // Nothing goes there.
      if (destination.isNew) await removeNewDestination(tx, destination.id)
      return answer
    }
    const { run } = answer
    tx.afterCommit(() => {
      this.#remember(namespace, start.destination, run.destinationId)
      if (record.deadlineAt !== null) dispatcher.wakeAt(record.deadlineAt)
      // Asked now: a short delay may be over, and nobody is woken for a time that was passed before this was committed.
      if (dueAt > now && dueAt > clock.now()) dispatcher.wakeAt(dueAt)
      else dispatcher.offer(withSendable(run, start))
    })
    return answer
  }

  async #destination(tx: Transaction, { id }: ActiveNamespace, destination: string): Promise<NumberedDestination> {
    const known = this.#destinations.get(`${id} ${destination}`)
    return known === undefined ? ensureDestination(tx, id, destination) : { id: known, isNew: false }
  }

  /** Only what is committed. */
  #remember({ id }: ActiveNamespace, destination: string, number: number): void {
    if (this.#destinations.size >= MOST_DESTINATIONS) this.#destinations.clear()
    this.#destinations.set(`${id} ${destination}`, number)
  }
}

function withSendable(run: StoredRun, start: ValidStart): WaitingRun {
  const { target, callback, callbackBytes, completion } = start
  const completionBytes = start.completionBytes.length
  const isSmall =
    Math.max(callbackBytes.length, completionBytes) <= SMALL_INPUT_BYTES &&
    bodyBytes(completion, completionBytes) <= SMALL_BODY_BYTES
  if (!isSmall) return { ...run, completionBytes }
  // Member by member: what else the caller may have written there is a part of the request.
  const { url, header, token } = callback.variant.value as NexusCallback
  const content = completionBody(completion)
  const sendable = { target, callback: { url, header, token }, completion: { ...content, body: owned(content.body) } }
  return { ...run, completionBytes: content.body.byteLength, sendable }
}

/** Without the request that it is a part of, which may be a thousand times as long and would be kept with it. */
function owned(body: Uint8Array): Uint8Array {
  return body.buffer.byteLength > MOST_AROUND_BYTES ? new Uint8Array(body) : body
}
