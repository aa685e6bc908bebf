import { create } from '@bufbuild/protobuf'
import type {
  CallbackAttempt,
  ListCallbackAttemptsRequest,
  ListCallbackAttemptsResponse,
  RetryCallbackExecutionRequest,
  RetryCallbackExecutionResponse,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import {
  CallbackAttemptSchema,
  ListCallbackAttemptsResponseSchema,
  RetryCallbackExecutionResponseSchema,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import type { Call } from '../call.ts'
import type { NamespaceGate } from '../namespace/namespace-gate.ts'
import { runNotFound } from '../wire/error-details.ts'
import { timestampOf } from '../wire/timestamp.ts'
import type { Tokens } from '../wire/tokens.ts'
import { pageSizeOf, validateRunAddress } from '../wire/validate-requests.ts'
import { type RetryRunOptions, retryRun } from './retry-run.ts'
import { KEPT_ATTEMPTS, type LoggedAttempt, listAttempts } from './store-attempts.ts'
import { findRun } from './store-runs.ts'

export interface AttemptsServiceOptions extends RetryRunOptions {
  gate: NamespaceGate
  tokens: Tokens
}

/** What became of the attempts of a run, and the wish for another one. */
export class AttemptsService {
  readonly #options: AttemptsServiceOptions

  constructor(options: AttemptsServiceOptions) {
    this.#options = options
  }

  async list(request: ListCallbackAttemptsRequest, _call: Call): Promise<ListCallbackAttemptsResponse> {
    const { db, gate, tokens } = this.#options
    const { rules, namespace: entered } = await gate.enter(request.namespace)
    const { callbackId, runId } = validateRunAddress(request, rules.policy)
    const namespace = entered()
    const run = await findRun(db, namespace.id, callbackId, runId)
    if (run === undefined) throw runNotFound(callbackId, runId)
    const name = { namespace: namespace.name, callbackId, runId: run.runId }
    const before = tokens.readAttemptToken(request.nextPageToken, name)
    const pageSize = pageSizeOf(request.pageSize, Math.min(KEPT_ATTEMPTS, rules.policy.max_page_size))
    // One more than asked for tells whether there is another page.
    const found = await listAttempts(db, run.runNumber, before, pageSize + 1)
    const page = found.slice(0, pageSize)
    const last = found.length > pageSize ? page.at(-1) : undefined
    return create(ListCallbackAttemptsResponseSchema, {
      attempts: page.map(attemptMessage),
      nextPageToken: last && tokens.attemptToken(name, last.attempt),
    })
  }

  async retry(request: RetryCallbackExecutionRequest, _call: Call): Promise<RetryCallbackExecutionResponse> {
    const { rules, namespace } = await this.#options.gate.enter(request.namespace)
    const address = validateRunAddress(request, rules.policy)
    await retryRun(this.#options, namespace(), address)
    return create(RetryCallbackExecutionResponseSchema)
  }
}

export function attemptMessage(attempt: LoggedAttempt): CallbackAttempt {
  return create(CallbackAttemptSchema, {
    attempt: attempt.attempt,
    startTime: timestampOf(attempt.startedAt),
    endTime: timestampOf(attempt.endedAt),
    outcome: attempt.outcome,
    statusCode: attempt.statusCode ?? 0,
    errorType: attempt.errorType,
    message: attempt.message,
    responseSnippet: attempt.responseSnippet,
    address: attempt.address ?? '',
  })
}
