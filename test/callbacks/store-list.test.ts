import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { attributeRows } from '../../src/callbacks/query/attribute-rows.ts'
import { compareCodePoints } from '../../src/callbacks/query/code-points.ts'
import type { Condition } from '../../src/callbacks/query/condition.ts'
import { evaluateCondition } from '../../src/callbacks/query/evaluate-condition.ts'
import { EXECUTION_STATUSES } from '../../src/callbacks/query/fields.ts'
import { parseQuery } from '../../src/callbacks/query/parse-query.ts'
import type { ListKey } from '../../src/callbacks/run/list-query.ts'
import {
  attributeBytes,
  attributesOf,
  countRuns,
  type ListedRun,
  listRuns,
} from '../../src/callbacks/run/store-list.ts'
import { RUNNING_SORT_AT } from '../../src/callbacks/run/store-runs.ts'
import type { RunStatus } from '../../src/callbacks/state/run-state.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { ATTRIBUTES, attributes, CATALOGUE, condition, keyword, readRun, type SampleRun } from './condition-samples.ts'
import { printQuery } from './print-query.ts'
import { fillSamples } from './store-samples.ts'
import { FATAL, live, NAMESPACE, start, TERMINATE } from './store-world.ts'

// Few times, so that every part of the order has to decide.
const createdAt = fc.constantFrom(0n, 1n, 1_000_000n, 1_767_225_600_123_456n)
const sample: fc.Arbitrary<SampleRun> = fc
  .record({
    status: fc.constantFrom(...EXECUTION_STATUSES),
    callbackId: keyword,
    runId: fc.uuid(),
    createdAt,
    duration: fc.constantFrom(1n, 2n, 1_000_000n),
    transitionCount: fc.constantFrom(1n, 2n),
    attributes,
  })
  .map(({ duration, ...run }) => ({ ...run, closedAt: run.status === 'Running' ? null : run.createdAt + duration }))
const samples = fc
  .uniqueArray(sample, { minLength: 1, maxLength: 14, selector: ({ runId }) => runId })
  .map((runs) => runs.filter((run) => run.closedAt !== null || run === runs.find((one) => isTwin(one, run))))

/** Of one id at most one is running. */
function isTwin(one: SampleRun, other: SampleRun): boolean {
  return one.closedAt === null && one.callbackId === other.callbackId
}

function inOrder(runs: readonly SampleRun[]): SampleRun[] {
  const down = (a: bigint, b: bigint) => (a < b ? 1 : a > b ? -1 : 0)
  const sortAt = ({ closedAt }: SampleRun) => closedAt ?? BigInt(RUNNING_SORT_AT)
  return runs.toSorted(
    (a, b) => down(sortAt(a), sortAt(b)) || down(a.createdAt, b.createdAt) || compareCodePoints(a.runId, b.runId),
  )
}

async function listAll(db: Database, asked: Condition | null, pageSize: number): Promise<ListedRun[]> {
  const all: ListedRun[] = []
  let after: ListKey | null = null
  for (;;) {
    const page: ListedRun[] = await listRuns(
      db,
      { namespaceId: NAMESPACE, condition: asked },
      { after, limit: pageSize },
    )
    all.push(...page)
    if (page.length < pageSize) return all
    after = page.at(-1)?.key ?? null
  }
}

const idsOf = (runs: readonly { runId: string }[]) => runs.map(({ runId }) => runId)

eachDatabase('lists and counts of runs', ({ open, engine }) => {
  const numRuns = engine === 'sqlite' ? 150 : 25

  test('every page follows the one before, in the order of lists, whatever its size', async () => {
    const db = await open()
    await fc.assert(
      fc.asyncProperty(samples, fc.integer({ min: 1, max: 5 }), async (runs, pageSize) => {
        await fillSamples(db, runs)
        assert.deepEqual(idsOf(await listAll(db, null, pageSize)), idsOf(inOrder(runs)))
      }),
      { numRuns },
    )
  })

  test('any condition finds and counts what it means, run by run', async () => {
    const db = await open()
    const conditions = fc.array(condition, { minLength: 10, maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(samples, conditions, async (runs, asked) => {
        await fillSamples(db, runs)
        for (const each of asked) {
          const text = printQuery({ condition: each, groupBy: null })
          const expected = inOrder(runs).filter((run) => evaluateCondition(each, readRun(run)) === true)
          assert.deepEqual(idsOf(await listAll(db, each, 3)), idsOf(expected), text)
          const counts = await countRuns(db, { namespaceId: NAMESPACE, condition: each })
          for (const status of EXECUTION_STATUSES) {
            const count = expected.filter((run) => run.status === status).length
            assert.equal(counts.get(status.toUpperCase() as RunStatus), count, `${status}: ${text}`)
          }
        }
      }),
      { numRuns },
    )
  })

  test('a run is listed with what is known of it', async () => {
    const db = await open()
    const searchAttributes = Buffer.from('attributes')
    const run = await start(db, {
      callbackId: 'a',
      at: 1_000,
      searchAttributes,
      attributes: attributeRows('K', 'Keyword', ['x']),
    })
    const other = await start(db, { callbackId: 'b', at: 2_000 })
    await live(db, run, [TERMINATE, 3_000])
    const [first, second] = await listAll(db, null, 10)
    assert.deepEqual(second, {
      runNumber: run.runNumber,
      callbackId: 'a',
      runId: run.runId,
      status: 'TERMINATED',
      createdAt: 1_000,
      closedAt: 3_000,
      transitionCount: 2,
      key: { sortAt: 3_000, createdAt: 1_000, runId: run.runId },
    })
    assert.deepEqual([first?.runId, first?.status, first?.closedAt], [other.runId, 'RUNNING', null])
    const both = [first, second].filter((one) => one !== undefined)
    assert.deepEqual([...(await attributeBytes(db, both))], [[run.runNumber, searchAttributes.length]])
    const [[number, bytes] = [], ...rest] = await attributesOf(db, both)
    assert.deepEqual([number, Buffer.from(bytes ?? []), rest], [run.runNumber, searchAttributes, []])
    const { condition: asked } = parseQuery("K = 'x'", CATALOGUE, { allowsGroupBy: false })
    assert.deepEqual(idsOf(await listAll(db, asked, 10)), [run.runId])
  })

  test('other namespaces are neither listed nor counted', async () => {
    const db = await open()
    const namespaceId = newId<'Namespace'>()
    await live(db, await start(db, { namespaceId }), [FATAL, 2_000])
    await start(db)
    assert.equal((await listAll(db, null, 10)).length, 1)
    assert.deepEqual(Object.fromEntries(await countRuns(db, { namespaceId, condition: null })), {
      RUNNING: 0,
      SUCCEEDED: 0,
      FAILED: 1,
      TERMINATED: 0,
    })
  })

  test('attributes of all types come to the store as a query asks for them', async () => {
    const db = await open()
    const values = { K: ['k'], L: ['a', 'b'], T: ['Paid in full'], I: [2n ** 63n - 1n], D: [0.1], B: [true], At: [1n] }
    const rows = Object.entries(values).flatMap(([name, each]) => attributeRows(name, ATTRIBUTES[name as 'K'], each))
    const { runId } = await start(db, { attributes: rows })
    const query =
      "K = 'k' AND L = 'b' AND T = 'full' AND I = 9223372036854775807 AND I > 9223372036854775806 AND D = 0.1 AND B = true AND At > '1970-01-01T00:00:00Z'"
    const { condition: asked } = parseQuery(query, CATALOGUE, { allowsGroupBy: false })
    assert.deepEqual(idsOf(await listAll(db, asked, 10)), [runId])
  })
})
