import { create } from '@bufbuild/protobuf'
import type { CallbackAttempt, SendTestRequest } from '../../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import {
  type CallbackExecutionCompletion,
  CallbackExecutionCompletionSchema,
} from '../../../gen/temporal/api/callback/v1/message_pb.js'
import type { Clock } from '../../../platform/clock/clock.ts'
import { AppError, isAppError } from '../../../platform/errors/app-error.ts'
import { newId } from '../../../platform/ids/uuid.ts'
import type { Call } from '../../call.ts'
import type { Lanes } from '../../deliver/lanes.ts'
import type { NamespaceGate } from '../../namespace/namespace-gate.ts'
import type { ActiveNamespace } from '../../namespace/namespace-policies.ts'
import { attemptRecord } from '../../run/attempt-record.ts'
import { attemptMessage } from '../../run/attempts-service.ts'
import { type CheckedCallback, checkCallback } from '../../wire/check-callback.ts'
import { checkCompletion } from '../../wire/check-completion.ts'
import { requireText } from '../../wire/check-ids.ts'
import type { NexusCallback } from '../../wire/messages.ts'
import { requireEnabled } from '../../wire/validate-start.ts'
import { destinationOf } from '../destination-of.ts'
import { bodyBytes, completionBody } from './completion-body.ts'
import type { Courier } from './courier.ts'
import { requestHeaders } from './request-headers.ts'

export interface SendTestsOptions {
  clock: Clock
  gate: NamespaceGate
  courier: Courier
  lanes: Lanes
}

// Limits of destinations do not count tests: these bound them.
const MOST_AT_A_TIME = 100
const MOST_BYTES_AT_A_TIME = 64 * 1024 * 1024
const RETRY_AFTER_SECONDS = 1

/** One attempt while the caller waits, as an execution would make it. Nothing of it is kept. */
export class SendTests {
  readonly #options: SendTestsOptions
  #underWay = 0
  #bytesUnderWay = 0

  constructor(options: SendTestsOptions) {
    this.#options = options
  }

  async send(request: SendTestRequest, call: Call): Promise<CallbackAttempt> {
    const { rules, namespace } = await this.#options.gate.enter(request.namespace)
    requireEnabled(rules.policy)
    requireText('namespace', request.namespace)
    const checked = checkCallback(request.callback, rules)
    const completion = request.completion ?? emptySuccess()
    const bytes = bodyBytes(completion, checkCompletion(completion, rules.policy).length)
    const entered = namespace()
    // Not whether the destination is paused: a test is how somebody sees that it may go on.
    const heldBy = this.#options.lanes.heldBy({ destination: destinationOf(checked.target), isPaused: false })
    if (heldBy !== null) throw new AppError('failed_precondition', `No test is sent there: ${heldBy}`)
    return this.#counted(bytes, () => this.#attempt(entered, checked, completion, call))
  }

  async #attempt(
    { policy, targetPolicy, signingSecrets: secrets }: ActiveNamespace,
    { callback, target }: CheckedCallback,
    completion: CallbackExecutionCompletion,
    { signal }: Call,
  ): Promise<CallbackAttempt> {
    const { clock, courier } = this.#options
    const content = completionBody(completion)
    await courier.preparing()
    const startedAt = clock.now()
    const headers = requestHeaders({
      runId: newId(),
      attempt: 1,
      createdAt: startedAt,
      attemptedAt: startedAt,
      callback: callback.variant.value as NexusCallback,
      completion: content,
      secrets,
    })
    const timeoutMs = policy.request_timeout
    const delivery = await courier
      .deliver({ target, policy: targetPolicy, headers, body: content.body, timeoutMs, signal })
      .catch((cause: unknown) => {
        if (signal.aborted) throw new AppError('canceled', 'The caller went away', { cause })
        // This machine could not even try, and the error says why.
        if (isAppError(cause)) throw cause
        throw new AppError('unavailable', 'The server is stopping: send the test again in a moment', { cause })
      })
    return attemptMessage({ attempt: 1, ...attemptRecord(delivery, startedAt, clock.now()) })
  }

  async #counted<T>(bytes: number, attempt: () => Promise<T>): Promise<T> {
    const isTooMuch = this.#underWay > 0 && this.#bytesUnderWay + bytes > MOST_BYTES_AT_A_TIME
    if (isTooMuch || this.#underWay >= MOST_AT_A_TIME) {
      throw new AppError('rate_limited', `Too many tests are under way: retry in ${RETRY_AFTER_SECONDS} second`, {
        headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
      })
    }
    this.#underWay++
    this.#bytesUnderWay += bytes
    try {
      return await attempt()
    } finally {
      this.#underWay--
      this.#bytesUnderWay -= bytes
    }
  }
}

function emptySuccess(): CallbackExecutionCompletion {
  return create(CallbackExecutionCompletionSchema, { result: { case: 'success', value: {} } })
}
