import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertSays, type CallbacksApi, eachServer, errorOf } from './callbacks-api.ts'

interface Listed {
  callbackId: string
  runId: string
  status: string
  createTime: string
  closeTime?: string
  searchAttributes?: unknown
  stateTransitionCount: string
}

const ids = ({ body }: { body: { executions?: Listed[] } }) => (body.executions ?? []).map((one) => one.callbackId)

/** Four runs of each status that a test can make at will, in the order of the list. */
async function fill(callbacks: CallbacksApi): Promise<string[]> {
  const running: string[] = []
  const closed: string[] = []
  for (let n = 0; n < 3; n++) {
    running.unshift(`running-${n}`)
    await callbacks.startRunning(`running-${n}`, {
      searchAttributes: { indexedFields: { Number: n, Word: n === 1 ? 'odd' : 'even' } },
    })
    await callbacks.startRunning(`ended-${n}`, { searchAttributes: { indexedFields: { Number: n + 10 } } })
  }
  for (const n of [1, 0, 2]) {
    closed.unshift(`ended-${n}`)
    await callbacks.terminate(`ended-${n}`)
  }
  await callbacks.startRun('delivered')
  await callbacks.closed('delivered')
  return [...running, 'delivered', ...closed]
}

eachServer('listing and counting callback executions', (callbacks) => {
  const attributes = { Number: 'Int', Word: 'Keyword' }
  let filled: CallbacksApi
  let order: string[]
  const world = async () => {
    if (filled === undefined) {
      filled = await callbacks().another('filled', { searchAttributes: attributes })
      order = await fill(filled)
    }
    return filled
  }

  test('shows running ones first, the newest before the older, then those that closed last', async () => {
    const { body } = await (await world()).list()
    assert.deepEqual(ids({ body }), order)
    assert.equal(body.nextPageToken, undefined)
  })

  test('shows of each what a list may show', async () => {
    const { body } = await (await world()).list({ query: 'CallbackId = "running-1" OR CallbackId = "delivered"' })
    const [running, delivered] = body.executions as [Listed, Listed]
    assert.deepEqual(Object.keys(running), [
      'callbackId',
      'runId',
      'status',
      'createTime',
      'searchAttributes',
      'stateTransitionCount',
    ])
    assert.deepEqual(running.searchAttributes, { indexedFields: { Number: 1, Word: 'odd' } })
    assert.deepEqual(
      [running.status, running.stateTransitionCount, delivered.status, delivered.stateTransitionCount],
      ['CALLBACK_EXECUTION_STATUS_RUNNING', '1', 'CALLBACK_EXECUTION_STATUS_SUCCEEDED', '2'],
    )
    assert.ok((delivered.closeTime as string) > delivered.createTime)
    assert.equal(delivered.searchAttributes, undefined)
  })

  test('goes through the pages once each, and hands out no token for a page that is not there', async () => {
    const { list } = bound(await world())
    for (const pageSize of ['1', '2', '3', '7', '100']) {
      const seen: string[] = []
      let nextPageToken = ''
      let pages = 0
      do {
        const { body } = await list({ pageSize, nextPageToken })
        assert.ok((body.executions ?? []).length > 0)
        seen.push(...ids({ body }))
        nextPageToken = body.nextPageToken ?? ''
        pages++
      } while (nextPageToken !== '')
      assert.deepEqual(seen, order)
      assert.equal(pages, Math.ceil(order.length / Number(pageSize)))
    }
    for (const pageSize of ['0', '-1', '5000', '2147483647']) assert.deepEqual(ids(await list({ pageSize })), order)
  })

  test('keeps its place while runs come and go', async () => {
    const busy = await callbacks().another('busy')
    for (const id of ['a', 'b', 'c', 'd']) await busy.startRunning(id)
    const { body } = await busy.list({ pageSize: '2' })
    assert.deepEqual(ids({ body }), ['d', 'c'])
    await busy.delete('c')
    await busy.startRunning('e')
    assert.deepEqual(ids(await busy.list({ pageSize: '2', nextPageToken: body.nextPageToken })), ['b', 'a'])
  })

  test('refuses a token of another query, namespace or making', async () => {
    const { list } = bound(await world())
    const { nextPageToken } = (await list({ pageSize: '1' })).body
    const other = (await callbacks().list({ pageSize: '1' })).body
    const refused: Record<string, string>[] = [
      { nextPageToken, query: 'Number = 1' },
      { nextPageToken: nextPageToken.replace(/^./, 'B') },
      { nextPageToken: 'AAAA' },
      { nextPageToken: 'no base64!' },
      ...(other.nextPageToken === undefined ? [] : [{ nextPageToken: other.nextPageToken }]),
    ]
    for (const query of refused) {
      const error = errorOf(await list({ pageSize: '1', ...query }, 400))
      assert.equal(error.code, 3)
      assert.match(error.message, /next_?page_?token/i)
    }
    errorOf(await callbacks().list({ nextPageToken }, 400))
    assert.deepEqual(ids(await list({ pageSize: '3', nextPageToken })), order.slice(1, 4))
  })

  test('finds by every kind of field', async () => {
    const { list } = bound(await world())
    const { startTime, runId } = await firstOf(await world())
    for (const [query, wanted] of [
      ['ExecutionStatus = "Running"', order.slice(0, 3)],
      ["ExecutionStatus IN ('Succeeded', 'CALLBACK_EXECUTION_STATUS_TERMINATED')", order.slice(3)],
      ['ExecutionStatus = "Nonsense"', []],
      ['CallbackId STARTS_WITH "ended-"', order.slice(4)],
      [`RunId = "${runId}"`, ['running-0']],
      ['Number BETWEEN 1 AND 10', ['running-2', 'running-1', 'ended-0']],
      ['Word = "odd" or number_of_nothing is null', null],
      ['Word != "odd"', ['running-2', 'running-0']],
      ['Word IS NULL AND CloseTime IS NOT NULL', order.slice(3)],
      [`StartTime = "${startTime}"`, ['running-0']],
      [`CreateTime < "${startTime}"`, []],
      ['NOT (Number >= 1)', ['running-0']],
      ['StateTransitionCount = 2 AND ExecutionDuration > 0', order.slice(3)],
      ["`CallbackId` = \"it's\" OR CallbackId = 'it\\'s'", []],
      ['', order],
    ] as [string, string[] | null][]) {
      if (wanted === null) errorOf(await list({ query }, 400))
      else assert.deepEqual(ids(await list({ query })), wanted, query)
    }
  })

  test('says what is wrong with a query, and that it is the query', async () => {
    const api = await world()
    const queries = [
      'Nothing = 1',
      'Number = "seven"',
      'Number STARTS_WITH "1"',
      'Word =',
      'Word = "odd" ORDER BY Word',
      'Word = "odd" LIMIT 1',
      'Word = "open',
      'Word = upper("x")',
      `${'('.repeat(51)}Number = 1${')'.repeat(51)}`,
      'Word = "x"'.padEnd(10_001),
    ]
    for (const query of queries) {
      for (const answer of [await api.list({ query }, 400), await api.count(query, 400)]) {
        const error = errorOf(answer)
        assert.equal(error.code, 3)
        assert.ok(error.message.startsWith('invalid query'), error.message)
      }
    }
    for (const query of ['GROUP BY ExecutionStatus', 'Number = 1 GROUP BY ExecutionStatus']) {
      assertSays(errorOf(await api.list({ query }, 400)), 'invalid query')
    }
    for (const query of ['GROUP BY Word', 'GROUP BY ExecutionStatus, Word', 'GROUP BY']) {
      assertSays(errorOf(await api.count(query, 400)), 'invalid query')
    }
    errorOf(await api.list({ pageSize: 'many' }, 400))
  })

  test('counts exactly, by groups when asked', async () => {
    const api = await world()
    assert.deepEqual((await api.count()).body, { count: String(order.length) })
    assert.deepEqual((await api.count('CallbackId STARTS_WITH "ended"')).body, { count: '3' })
    assert.deepEqual((await api.count('CallbackId = "nobody"')).body, {})
    const groups = [
      { groupValues: ['Running'], count: '3' },
      { groupValues: ['Succeeded'], count: '1' },
      { groupValues: ['Terminated'], count: '3' },
    ]
    assert.deepEqual((await api.count('GROUP BY ExecutionStatus')).body, { count: '7', groups })
    assert.deepEqual((await api.count('Number < 10 group by ExecutionStatus')).body, {
      count: '3',
      groups: groups.slice(0, 1),
    })
    const canonical = await api.api.get(
      `${api.base}/callback-count?noPayloadShorthand&query=${encodeURIComponent('Number < 10 GROUP BY ExecutionStatus')}`,
      200,
    )
    assert.deepEqual(canonical.body.groups[0].groupValues, [
      { metadata: { encoding: btoa('json/plain') }, data: btoa('"Running"') },
    ])
  })

  test('shows a run as soon as it was started, and all runs of one id', async () => {
    const own = await callbacks().another('own')
    const runs: string[] = []
    for (let n = 0; n < 3; n++) {
      runs.unshift(await own.startRunning('same'))
      const { body } = await own.list({ query: 'CallbackId = "same"' })
      assert.deepEqual(
        body.executions.map(({ runId }: Listed) => runId),
        runs,
      )
      if (n < 2) await own.terminate('same')
    }
    await own.delete('same', `?runId=${runs[1]}`)
    assert.equal((await own.count()).body.count, '2')
  })

  test('of a namespace that is not there is NOT_FOUND, after the query was checked', async () => {
    const { api } = callbacks()
    for (const path of ['/namespaces/nowhere/callbacks', '/namespaces/nowhere/callback-count']) {
      const error = errorOf(await api.get(path, 404))
      assert.equal(error.details[0]?.namespace, 'nowhere')
      errorOf(await api.get(`${path}?query=Word%20%3D%20%22x%22`, 400))
    }
  })
})

function bound(callbacks: CallbacksApi) {
  return { list: callbacks.list.bind(callbacks) }
}

async function firstOf(callbacks: CallbacksApi): Promise<{ startTime: string; runId: string }> {
  const { info } = await callbacks.describe('running-0')
  return { startTime: info.createTime, runId: info.runId }
}
