import type { ReplayCallbackExecutionRequest } from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import type {
  CountCallbackExecutionsRequest,
  DeleteCallbackExecutionRequest,
  DescribeCallbackExecutionRequest,
  ListCallbackExecutionsRequest,
  PollCallbackExecutionRequest,
  TerminateCallbackExecutionRequest,
} from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import type { Query } from '../query/condition.ts'
import { fieldCatalogue } from '../query/fields.ts'
import { parseQuery } from '../query/parse-query.ts'
import type { CallbackPolicy } from '../settings.ts'
import type { AttributeTypes } from './check-attributes.ts'
import { checkKeyLength, checkLength, readRunId, requireText } from './check-ids.ts'
import { invalid } from './invalid.ts'
import type { ListPosition, Tokens } from './tokens.ts'

type IdLimit = Pick<CallbackPolicy, 'max_id_length'>

// A smaller limit is for new ids. Runs that were started before it was set are looked at and ended by theirs.
const USUAL_ID_BYTES = 1_000

/** Which run an operation is about; without a run id the latest one of the callback. */
export interface RunAddress {
  callbackId: string
  runId: string | null
}

/** Poll, Delete, and every other operation on one run that needs nothing more. */
export function validateRunAddress(
  request: Pick<PollCallbackExecutionRequest | DeleteCallbackExecutionRequest, 'namespace' | 'callbackId' | 'runId'>,
  policy: IdLimit,
): RunAddress {
  requireText('namespace', request.namespace)
  requireText('callback_id', request.callbackId)
  const runId = readRunId(request.runId)
  checkLength('callback_id', request.callbackId, Math.max(policy.max_id_length, USUAL_ID_BYTES))
  return { callbackId: request.callbackId, runId }
}

export interface ValidDescribe extends RunAddress {
  includeInput: boolean
  includeOutcome: boolean
  /** Null: answer at once. Otherwise wait until the record has changed since this transition count. */
  seenCount: number | null
}

export function validateDescribe(
  request: DescribeCallbackExecutionRequest,
  policy: IdLimit,
  tokens: Tokens,
): ValidDescribe {
  const address = validateRunAddress(request, policy)
  const { namespace, includeInput, includeOutcome, longPollToken } = request
  if (longPollToken.length === 0) return { ...address, includeInput, includeOutcome, seenCount: null }
  const { callbackId, runId } = address
  if (runId === null) throw invalid('run_id is required together with a long_poll_token')
  const seenCount = tokens.readLongPollToken(longPollToken, { namespace, callbackId, runId })
  return { ...address, includeInput, includeOutcome, seenCount }
}

export interface ValidTerminate extends RunAddress {
  identity: string
  /** Empty when the caller gave none. */
  requestId: string
  reason: string
}

export function validateTerminate(request: TerminateCallbackExecutionRequest, policy: IdLimit): ValidTerminate {
  const address = validateRunAddress(request, policy)
  const { identity, requestId, reason } = request
  checkLength('identity', identity, policy.max_id_length)
  checkLength('request_id', requestId, policy.max_id_length)
  checkLength('reason', reason, policy.max_id_length)
  return { ...address, identity, requestId, reason }
}

export interface ValidReplay extends RunAddress {
  /** Empty when the caller gave none. */
  requestId: string
  /** Of the new run. */
  newCallbackId: string
}

export function validateReplay(request: ReplayCallbackExecutionRequest, policy: IdLimit): ValidReplay {
  const { namespace, sourceCallbackId, runId, requestId, callbackId } = request
  requireText('namespace', namespace)
  // By its own name: `callback_id` is that of the new run, which may well have been given.
  requireText('source_callback_id', sourceCallbackId)
  const address = validateRunAddress({ namespace, callbackId: sourceCallbackId, runId }, policy)
  checkLength('request_id', requestId, policy.max_id_length)
  const newCallbackId = callbackId === '' ? sourceCallbackId : callbackId
  checkKeyLength('callback_id', newCallbackId, policy.max_id_length)
  return { ...address, requestId, newCallbackId }
}

export interface ValidList {
  query: Query
  /** As given: tokens are bound to it. */
  queryText: string
  pageSize: number
  after: ListPosition | null
}

export function validateList(
  request: ListCallbackExecutionsRequest,
  policy: Pick<CallbackPolicy, 'max_page_size'>,
  attributeTypes: AttributeTypes,
  tokens: Tokens,
): ValidList {
  const { namespace, query: queryText } = request
  requireText('namespace', namespace)
  const query = parseQuery(queryText, fieldCatalogue(attributeTypes), { allowsGroupBy: false })
  const after = tokens.readListToken(request.nextPageToken, { namespace, query: queryText })
  return { query, queryText, pageSize: pageSizeOf(request.pageSize, policy.max_page_size), after }
}

export function validateCount(request: CountCallbackExecutionsRequest, attributeTypes: AttributeTypes): Query {
  requireText('namespace', request.namespace)
  return parseQuery(request.query, fieldCatalogue(attributeTypes), { allowsGroupBy: true })
}

/** Nothing, and more than is allowed, mean as much as is allowed. */
export function pageSizeOf(asked: number, most: number): number {
  return asked <= 0 || asked > most ? most : asked
}
