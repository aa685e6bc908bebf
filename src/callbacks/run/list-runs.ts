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
import { attributeBytes, attributesOf, countRuns, type ListedRun, listRuns } from './store-list.ts'

/** As queries spell it. */
const STATUS_TEXTS: Record<RunStatus, string> = {
  RUNNING: 'Running',
  SUCCEEDED: 'Succeeded',
  FAILED: 'Failed',
  TERMINATED: 'Terminated',
}

const JSON_PLAIN = new Uint8Array(Buffer.from('json/plain'))

// In JSON: names of members and what is always short; of an attribute, of a piece of its metadata, and of data kept elsewhere.
const BYTES_BESIDE = 300
const BYTES_BESIDE_VALUE = 32
const BYTES_BESIDE_METADATA = 6
const EXTERNAL_BYTES = 40

export async function listPage(
  db: Database,
  { id, name }: ActiveNamespace,
  { query, queryText, pageSize, after }: ValidList,
  tokens: Tokens,
  signal?: AbortSignal,
): Promise<ListCallbackExecutionsResponse> {
  const asked = { namespaceId: id, condition: query.condition, signal }
  const list = async (reader: Reader) => {
    // One more than asked for tells whether there is another page.
    const found = await listRuns(reader, asked, { after, limit: pageSize + 1 })
    return { found, infos: await listInfos(reader, found.slice(0, pageSize)) }
  }
  const { found, infos } = await (asked.condition === null ? list(db) : inOneState(db, list))
  const executions = fittingItems(infos, infoBytes)
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

/** PostgreSQL is asked once for the runs, for which it needs no snapshot. */
function inOneState<T>(db: Database, ask: (reader: Reader) => Promise<T>): Promise<T> {
  return db.engine === 'sqlite' ? db.read(ask) : ask(db)
}

/** Of the first ones: of those that surely do not fit into the page the attributes are not even read. */
async function listInfos(reader: Reader, runs: readonly ListedRun[]): Promise<CallbackExecutionListInfo[]> {
  const sizes = await attributeBytes(reader, runs)
  const first = fittingItems(runs, ({ runNumber }) => sizes.get(runNumber) ?? 0)
  const attributes = sizes.size === 0 ? new Map<number, Uint8Array>() : await attributesOf(reader, first)
  return first.map((run) => listInfo(run, attributes.get(run.runNumber)))
}

function listInfo(run: ListedRun, attributes: Uint8Array | undefined): CallbackExecutionListInfo {
  return create(CallbackExecutionListInfoSchema, {
    callbackId: run.callbackId,
    runId: run.runId,
    status: STATUS_NUMBERS[run.status],
    createTime: timestampOf(run.createdAt),
    closeTime: run.closedAt === null ? undefined : timestampOf(run.closedAt),
    searchAttributes: attributes && fromBinary(SearchAttributesSchema, attributes),
    stateTransitionCount: BigInt(run.transitionCount),
  })
}

function infoBytes({ callbackId, searchAttributes }: CallbackExecutionListInfo): number {
  let bytes = BYTES_BESIDE + textBytes(callbackId)
  for (const [name, { metadata, data, externalPayloads }] of Object.entries(searchAttributes?.indexedFields ?? {})) {
    bytes += BYTES_BESIDE_VALUE + name.length + base64Bytes(data.length) + externalPayloads.length * EXTERNAL_BYTES
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
