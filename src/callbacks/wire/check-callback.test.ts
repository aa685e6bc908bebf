import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallbackSchema } from '../../gen/temporal/api/common/v1/message_pb.js'
import { createIpFilter } from '../../platform/outbound/ip-filter.ts'
import { checkCallback } from './check-callback.ts'
import { readMessage } from './json.ts'

const targetPolicy = { rules: [{ pattern: '*', allow_insecure: false }], filter: createIpFilter([]), deniedPorts: [] }
const policy = { url_max_length: 100, header_max_size: 10 } as never

function check(links: unknown[], header = {}) {
  const nexus = { url: 'https://shop.example/hooks', header }
  return checkCallback(readMessage(CallbackSchema, { nexus, links }), { policy, targetPolicy })
}

test('links have at most 64 KiB in all, and are looked at after the headers', () => {
  const link = (bytes: number) => ({ batchJob: { jobId: 'j'.repeat(bytes) } })
  assert.equal(check([link(30_000), link(30_000)]).callback.links.length, 2)
  const refused = /^callback links size is 70016 bytes, which exceeds the limit of 65536$/
  assert.throws(() => check([link(35_000), link(35_000)]), { code: 'invalid_argument', message: refused })
  assert.throws(() => check([link(70_000)], { a: '1'.repeat(10) }), /header size/)
})
