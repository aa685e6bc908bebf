import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toBinary } from '@bufbuild/protobuf'
import { CallbackSchema, SearchAttributesSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { StartCallbackExecutionRequestSchema } from '../../gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { createIpFilter } from '../../platform/outbound/ip-filter.ts'
import { readBinary } from './binary.ts'
import { readMessage } from './json.ts'
import { type StartRules, validateStart } from './validate-start.ts'

const RULES = {
  policy: {
    enabled: true,
    max_id_length: 100,
    url_max_length: 100,
    header_max_size: 100,
    blob_size: { error: 100, warn: 100 },
    search_attribute_limits: { keys: 1, value_bytes: 10, total_bytes: 10 },
    schedule_to_close: { default: 0, max: 0 },
  },
  targetPolicy: { rules: [{ pattern: '*', allow_insecure: false }], filter: createIpFilter([]), deniedPorts: [] },
  searchAttributes: { Amount: 'Int' },
} as unknown as StartRules

test('fields of the binary form that nobody here knows are not stored: no limit counts them', () => {
  const request = readMessage(StartCallbackExecutionRequestSchema, {
    namespace: 'default',
    identity: 'me',
    callbackId: 'c',
    callback: { nexus: { url: 'https://shop.example/hooks' } },
    completion: { success: 1 },
    searchAttributes: { indexedFields: { Amount: 1 } },
  })
  const { callback, searchAttributes } = request
  assert.ok(callback && searchAttributes)
  const expected = [toBinary(CallbackSchema, callback), toBinary(SearchAttributesSchema, searchAttributes)]
  const unknown = [{ no: 999, wireType: 2, data: new Uint8Array([3, 1, 2, 3]) }]
  for (const message of [callback, callback.variant.value, searchAttributes, searchAttributes.indexedFields.Amount]) {
    Object.assign(message ?? assert.fail(), { $unknown: unknown })
  }
  const bytes = toBinary(StartCallbackExecutionRequestSchema, request)
  const stored = validateStart(readBinary(StartCallbackExecutionRequestSchema, bytes), RULES)
  assert.deepEqual([stored.callbackBytes, stored.searchAttributesBytes], expected)
})
