import { create, fromBinary } from '@bufbuild/protobuf'
import {
  type CallbackExecutionListInfo,
  CallbackExecutionListInfoSchema,
} from '../../gen/temporal/api/callback/v1/message_pb.js'
import { PayloadSchema, SearchAttributesSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import {
  type CountCallbackExecutionsResponse,
  CountCallbackExecutionsResponseSchema,
  type ListCallbackExecutionsResponse,
  ListCallbackExecutionsResponseSchema,
} from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import type { Database, Reader } from '../../platform/storage/database.ts'
import type { ActiveNamespace } from '../namespace/namespace-policies.ts'
import type { Query } from '../query/condition.ts'
import { type RunStatus, STATUS_NUMBERS } from '../state/run-state.ts'
import { base64Bytes, fittingItems, textBytes } from '../wire/fitting-items.ts'
import { timestampOf } from '../wire/timestamp.ts'
import type { Tokens } from '../wire/tokens.ts'
import type { ValidList } from '../wire/validate-requests.ts'
import { countRuns, type ListedRun, listRuns } from './store-list.ts'

/** As queries spell it. */
const STATUS_TEXTS: Record<RunStatus, string> = {
  RUNNING: 'Running',
  SUCCEEDED: 'Succeeded',
  FAILED: 'Failed',
  TERMINATED: 'Terminated',
}

const JSON_PLAIN = new Uint8Array(Buffer.from('json/plain'))

// In JSON: names of members and what is always short; of an attribute, and of a piece of its metadata.
const BYTES_BESIDE = 300
const BYTES_BESIDE_VALUE = 32
const BYTES_BESIDE_METADATA = 6

export async function listPage(
  db: Database,
  { id, name }: ActiveNamespace,
  { query, queryText, pageSize, after }: ValidList,
  tokens: Tokens,
  signal?: AbortSignal,
): Promise<ListCallbackExecutionsResponse> {
  // One more than asked for tells whether there is another page.
  const asked = { namespaceId: id, condition: query.condition, signal }
  const list = (reader: Reader) => listRuns(reader, asked, { after, limit: pageSize + 1 })
  const found = await (asked.condition === null ? list(db) : inOneState(db, list))
  const executions = fittingItems(found.slice(0, pageSize).map(listInfo), infoBytes)
  const last = found.length > executions.length ? found[executions.length - 1] : undefined
  return create(ListCallbackExecutionsResponseSchema, {
    executions,
    nextPageToken: last && tokens.listToken({ namespace: name, query: queryText }, last.key),
  })
}

/** By groups when the query asks for them: one for each status that there is. */
export async function countFound(
  db: Database,
  { id }: ActiveNamespace,
  { condition, groupBy }: Query,
  signal?: AbortSignal,
): Promise<CountCallbackExecutionsResponse> {
  const counts = [
    ...(await inOneState(db, (reader) => countRuns(reader, { namespaceId: id, condition, signal }))),
  ].filter(([, count]) => count > 0)
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  const groups = counts.map(([status, count]) => ({ groupValues: [statusPayload(status)], count: BigInt(count) }))
  return create(CountCallbackExecutionsResponseSchema, {
    count: BigInt(total),
    groups: groupBy === null ? [] : groups,
  })
}

/** PostgreSQL is asked once, for which it needs no snapshot. */
function inOneState<T>(db: Database, ask: (reader: Reader) => Promise<T>): Promise<T> {
  return db.engine === 'sqlite' ? db.read(ask) : ask(db)
}

function listInfo(run: ListedRun): CallbackExecutionListInfo {
  return create(CallbackExecutionListInfoSchema, {
    callbackId: run.callbackId,
    runId: run.runId,
    status: STATUS_NUMBERS[run.status],
    createTime: timestampOf(run.createdAt),
    closeTime: run.closedAt === null ? undefined : timestampOf(run.closedAt),
    searchAttributes:
      run.searchAttributes === null ? undefined : fromBinary(SearchAttributesSchema, run.searchAttributes),
    stateTransitionCount: BigInt(run.transitionCount),
  })
}

function infoBytes({ callbackId, searchAttributes }: CallbackExecutionListInfo): number {
  let bytes = BYTES_BESIDE + textBytes(callbackId)
  for (const [name, { metadata, data }] of Object.entries(searchAttributes?.indexedFields ?? {})) {
    bytes += BYTES_BESIDE_VALUE + name.length + base64Bytes(data.length)
    for (const [key, value] of Object.entries(metadata)) {
      bytes += BYTES_BESIDE_METADATA + textBytes(key) + base64Bytes(value.length)
    }
  }
  return bytes
}

function statusPayload(status: RunStatus) {
  const data = new Uint8Array(Buffer.from(JSON.stringify(STATUS_TEXTS[status])))
  return create(PayloadSchema, { metadata: { encoding: JSON_PLAIN }, data })
}
