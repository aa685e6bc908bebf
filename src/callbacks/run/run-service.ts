import { create } from '@bufbuild/protobuf'
import type {
  CountCallbackExecutionsRequest,
  CountCallbackExecutionsResponse,
  DeleteCallbackExecutionRequest,
  DeleteCallbackExecutionResponse,
  DescribeCallbackExecutionRequest,
  DescribeCallbackExecutionResponse,
  ListCallbackExecutionsRequest,
  ListCallbackExecutionsResponse,
  PollCallbackExecutionRequest,
  PollCallbackExecutionResponse,
  StartCallbackExecutionRequest,
  StartCallbackExecutionResponse,
  TerminateCallbackExecutionRequest,
  TerminateCallbackExecutionResponse,
} from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import {
  DeleteCallbackExecutionResponseSchema,
  DescribeCallbackExecutionResponseSchema,
  PollCallbackExecutionResponseSchema,
  StartCallbackExecutionResponseSchema,
  TerminateCallbackExecutionResponseSchema,
} from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { Call } from '../call.ts'
import type { Dispatcher } from '../deliver/dispatcher.ts'
import type { Lanes } from '../deliver/lanes.ts'
import type { NamespaceGate } from '../namespace/namespace-gate.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import { isTerminal } from '../state/run-state.ts'
import { runNotFound } from '../wire/error-details.ts'
import { hasChangedSince, type Tokens } from '../wire/tokens.ts'
import {
  type ValidDescribe,
  validateCount,
  validateDescribe,
  validateList,
  validateRunAddress,
  validateTerminate,
} from '../wire/validate-requests.ts'
import { deleteRun } from './delete-run.ts'
import { describeRun, outcomeMessage } from './describe-run.ts'
import { countFound, listPage } from './list-runs.ts'
import type { LongPolls } from './long-polls.ts'
import type { RunWatch } from './run-watch.ts'
import type { StartRuns } from './start-runs.ts'
import { type DescribedRun, findDescribed, findOutcome } from './store-describe.ts'
import { terminateRun } from './terminate-run.ts'

export interface RunServiceOptions {
  db: Database
  clock: Clock
  cipher: Cipher
  gate: NamespaceGate
  tokens: Tokens
  polls: LongPolls
  lanes: Lanes
  watch: RunWatch
  dispatcher: Dispatcher
  starts: StartRuns
}

/** The operations on runs, one method each, the same for every protocol. Who may call is decided before. */
export class RunService {
  readonly #options: RunServiceOptions

  constructor(options: RunServiceOptions) {
    this.#options = options
  }

  async start(request: StartCallbackExecutionRequest, _call: Call): Promise<StartCallbackExecutionResponse> {
    const entered = await this.#options.gate.enter(request.namespace)
    return create(StartCallbackExecutionResponseSchema, await this.#options.starts.start(request, entered))
  }

  async describe(request: DescribeCallbackExecutionRequest, call: Call): Promise<DescribeCallbackExecutionResponse> {
    const { gate, tokens, polls } = this.#options
    const entered = await gate.enter(request.namespace)
    const wish = validateDescribe(request, entered.rules.policy, tokens)
    const namespace = entered.namespace()
    const read = () => this.#findDescribed(namespace, wish)
    const { seenCount } = wish
    const run =
      seenCount === null
        ? await read()
        : await polls.until(call, namespace, read, ({ record }) => {
            return isTerminal(record.state) || hasChangedSince(seenCount, record.transitionCount)
          })
    if (run === undefined) throw runNotFound(wish.callbackId, wish.runId)
    // Nothing in it: ask again.
    if (run === null) return create(DescribeCallbackExecutionResponseSchema)
    return this.#describe(namespace, run, wish)
  }

  async poll(request: PollCallbackExecutionRequest, call: Call): Promise<PollCallbackExecutionResponse> {
    const { gate, db, polls } = this.#options
    const entered = await gate.enter(request.namespace)
    const { callbackId, runId } = validateRunAddress(request, entered.rules.policy)
    const namespace = entered.namespace()
    // The run that is the latest now is the one to wait for, whatever comes after it.
    let fixedId = runId
    const read = async () => {
      const run = await findOutcome(db, namespace.id, callbackId, fixedId)
      fixedId ??= run?.runId ?? null
      return run
    }
    const run = await polls.until(call, namespace, read, ({ record }) => isTerminal(record.state))
    if (run === undefined) throw runNotFound(callbackId, fixedId)
    if (run === null) return create(PollCallbackExecutionResponseSchema)
    return create(PollCallbackExecutionResponseSchema, { runId: run.runId, outcome: outcomeMessage(run) })
  }

  async list(request: ListCallbackExecutionsRequest, { closed }: Call): Promise<ListCallbackExecutionsResponse> {
    const { gate, tokens, db } = this.#options
    const { rules, namespace } = await gate.enter(request.namespace)
    const wish = validateList(request, rules.policy, rules.searchAttributes, tokens)
    return listPage(db, namespace(), wish, tokens, closed)
  }

  async count(request: CountCallbackExecutionsRequest, { closed }: Call): Promise<CountCallbackExecutionsResponse> {
    const { gate, db } = this.#options
    const { rules, namespace } = await gate.enter(request.namespace)
    const query = validateCount(request, rules.searchAttributes)
    return countFound(db, namespace(), query, closed)
  }

  async terminate(
    request: TerminateCallbackExecutionRequest,
    _call: Call,
  ): Promise<TerminateCallbackExecutionResponse> {
    const { rules, namespace } = await this.#options.gate.enter(request.namespace)
    const wish = validateTerminate(request, rules.policy)
    await terminateRun(this.#options, namespace(), wish)
    return create(TerminateCallbackExecutionResponseSchema)
  }

  async delete(request: DeleteCallbackExecutionRequest, _call: Call): Promise<DeleteCallbackExecutionResponse> {
    const { rules, namespace } = await this.#options.gate.enter(request.namespace)
    const address = validateRunAddress(request, rules.policy)
    await deleteRun(this.#options, namespace(), address)
    return create(DeleteCallbackExecutionResponseSchema)
  }

  #findDescribed({ id }: ActiveNamespace, { callbackId, runId, includeInput }: ValidDescribe) {
    return findDescribed(this.#options.db, id, callbackId, { runId, withCompletion: includeInput })
  }

  #describe(namespace: ActiveNamespace, run: DescribedRun, wish: ValidDescribe): DescribeCallbackExecutionResponse {
    const { cipher, clock, tokens } = this.#options
    const { callbackId, runId, record } = run
    const isOpen = !isTerminal(record.state)
    return describeRun(run, {
      cipher,
      now: clock.now(),
      blockedReason: isOpen ? this.#blockedReason(run) : null,
      includeOutcome: wish.includeOutcome,
      longPollToken: isOpen
        ? tokens.longPollToken({ namespace: namespace.name, callbackId, runId }, record.transitionCount)
        : undefined,
    })
  }

  /** A destination without a lane here has a closed breaker, but may be held. */
  #blockedReason(run: DescribedRun): string | null {
    const { lanes } = this.#options
    const lane = lanes.find(run.destinationId)
    return lane === undefined ? lanes.heldBy(run) : lane.blockedReason()
  }
}
