import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, toBinary, toJsonString } from '@bufbuild/protobuf'
import type { ActiveNamespace } from '../../src/callbacks/namespace/namespace-policies.ts'
import { listPage } from '../../src/callbacks/run/list-runs.ts'
import { fittingItems } from '../../src/callbacks/wire/fitting-items.ts'
import { Tokens } from '../../src/callbacks/wire/tokens.ts'
import { SearchAttributesSchema } from '../../src/gen/temporal/api/common/v1/message_pb.js'
import { ListCallbackExecutionsResponseSchema } from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { NAMESPACE, startMany } from './store-world.ts'

const RPC_BYTES = 4 * 1024 * 1024
const namespace = { id: NAMESPACE, name: 'default' } as ActiveNamespace
const tokens = new Tokens(new Uint8Array(32))

/** As many as there may be, of one size. */
function attributesOf(keys: number, bytes: number): Uint8Array {
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.alloc(bytes, '1') }
  const entries = Array.from({ length: keys }, (_, n) => [`Key${n}`, payload] as const)
  return toBinary(
    SearchAttributesSchema,
    create(SearchAttributesSchema, { indexedFields: Object.fromEntries(entries) }),
  )
}

eachDatabase('pages of a list', ({ open }) => {
  test('a page ends before it is too long for any protocol, and the next one goes on there', async () => {
    const db = await open()
    const [large, many] = [attributesOf(20, 2_048), attributesOf(100, 1)]
    const wishes = Array.from({ length: 1_000 }, (_, n) => ({
      callbackId: `c-${n}`,
      at: 1_000 + n,
      searchAttributes: n < 100 ? large : many,
    }))
    await startMany(db, wishes)
    const found: string[] = []
    const sizes: number[] = []
    let after = null
    do {
      const query = { condition: null, groupBy: null }
      const page = await listPage(db, namespace, { query, queryText: '', pageSize: 1_000, after }, tokens)
      sizes.push(toJsonString(ListCallbackExecutionsResponseSchema, page).length)
      found.push(...page.executions.map(({ callbackId }) => callbackId))
      after = tokens.readListToken(page.nextPageToken, { namespace: 'default', query: '' })
    } while (after !== null)
    assert.deepEqual(found, wishes.map(({ callbackId }) => callbackId).reverse())
    assert.ok(
      sizes.every((size) => size < RPC_BYTES),
      `${sizes}`,
    )
    assert.ok(
      sizes.slice(0, -1).every((size) => size > RPC_BYTES / 2),
      `${sizes}`,
    )
  })

  test('attributes of runs that do not fit into the page are not read', async () => {
    const db = await open()
    const searchAttributes = attributesOf(20, 50_000)
    await startMany(
      db,
      Array.from({ length: 6 }, (_, n) => ({ at: 1_000 + n, searchAttributes })),
    )
    let read = 0
    const run: Database['run'] = async (statement, input) => {
      const rows = await db.run(statement, input)
      for (const row of rows as { search_attributes?: Uint8Array }[]) read += row.search_attributes?.length ?? 0
      return rows
    }
    const watched: Database = Object.assign(Object.create(db), { run, engine: db.engine, query: db.query })
    const wish = { query: { condition: null, groupBy: null }, queryText: '', after: null }
    const page = await listPage(watched, namespace, { ...wish, pageSize: 6 }, tokens)
    assert.deepEqual([page.executions.length, page.nextPageToken.length > 0], [2, true])
    assert.equal(read, 3 * searchAttributes.length)
  })
})

test('one item is a page, however long it is', () => {
  assert.deepEqual(
    fittingItems([5e6, 1], (bytes) => bytes),
    [5e6],
  )
  assert.deepEqual(
    fittingItems([3e6, 1, 2e5], (bytes) => bytes),
    [3e6, 1],
  )
  assert.deepEqual(
    fittingItems<number>([], (bytes) => bytes),
    [],
  )
})
