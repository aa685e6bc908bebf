import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openCallers } from '../support/callers.ts'
import { type Receiver, startReceiver } from '../support/receivers/receiver.ts'
import { assertSays, type CallbacksApi, eachServer, errorOf, type Wish } from './callbacks-api.ts'

const LATER = { initialInterval: '3600s', maximumInterval: '3600s' }
let made = 0

function pathOf(callbacks: CallbacksApi, destination: string, rest = ''): string {
  return `${callbacks.base}/destinations/${encodeURIComponent(destination)}${rest}`
}

function change(callbacks: CallbacksApi, destination: string, body: Wish, status = 200) {
  return callbacks.api.patch(pathOf(callbacks, destination), status, { body })
}

async function list(callbacks: CallbacksApi, query: Record<string, string> = {}) {
  return (await callbacks.api.get(`${callbacks.base}/destinations?${new URLSearchParams(query)}`, 200)).body
}

async function shown(callbacks: CallbacksApi, { url }: Pick<Receiver, 'url'>): Promise<Record<string, unknown>> {
  const { destinations } = await list(callbacks)
  return destinations.find(({ destination }: { destination: string }) => destination === url)
}

function to({ url }: Pick<Receiver, 'url'>, more: Wish = {}): Wish {
  return { callback: { nexus: { url: `${url}/hook` } }, retryPolicy: LATER, ...more }
}

eachServer('destinations', (callbacks) => {
  const another = () => callbacks().another(`destinations-${++made}`)

  test('are listed once something was started for them, with what is known of them', async () => {
    const own = await another()
    assert.deepEqual(await list(own), {})
    await using receiver = await startReceiver()
    receiver.script({ status: 503 })
    await own.startRun('a', to(receiver))
    await own.untilState('a', 'BACKING_OFF')
    await own.startRun('b', to(receiver))
    await own.poll('b')
    const { lastSuccessTime, lastFailureTime, ...rest } = await shown(own, receiver)
    assert.ok((lastSuccessTime as string) > (lastFailureTime as string))
    assert.deepEqual(rest, {
      destination: receiver.url,
      breakerState: 'closed',
      consecutiveFailures: 0,
      waiting: 0,
      inFlight: 0,
      lastFailureMessage: 'handler error (UNAVAILABLE)',
      concurrency: 100,
      rps: 0,
      paused: false,
    })
    assert.deepEqual((await own.api.get(`/api/v1${own.base}/destinations`, 200)).body, await list(own))
    assert.deepEqual(await list(await another()), {})
  })

  test('are not listed for a start that made no run: a conflict, or the same request again', async () => {
    const own = await another()
    await own.startRunning('taken', { requestId: 'r-1' })
    const elsewhere = { callback: { nexus: { url: `http://127.0.0.9:${own.receiver.port}/hook` } } }
    await own.refusal('taken', own.wish({ ...elsewhere, requestId: 'r-2' }), 409)
    await own.startRun('taken', { ...elsewhere, requestId: 'r-1' })
    await own.refusal('taken', own.wish({ ...elsewhere, startDelay: '-1s' }))
    const listed = (await list(own)).destinations.map(({ destination }: { destination: string }) => destination)
    assert.deepEqual(listed, [own.silent.url])
    // It is made with the first callback that goes there.
    await own.startRun('moved', elsewhere)
    assert.equal((await list(own)).destinations.length, 2)
  })

  test('tell what is in flight and what waits behind it', async () => {
    const own = await another()
    await using silent = await startReceiver({ answer: null })
    await own.startRun('first', to(silent))
    await silent.requests.next()
    await change(own, silent.url, { concurrency: 2 })
    for (let n = 0; n < 4; n++) await own.startRun(`c-${n}`, to(silent))
    await silent.requests.next()
    const { inFlight, waiting } = await shown(own, silent)
    assert.deepEqual([inFlight, waiting], [2, 3])
    assert.equal(silent.requests.all.length, 2)
    await change(own, silent.url, { concurrency: 5 })
    await silent.requests.take(3)
    const wider = await shown(own, silent)
    assert.deepEqual([wider.inFlight, wider.waiting], [5, 0])
  })

  test('are listed page by page, by name', async () => {
    const own = await another()
    const port = callbacks().receiver.port
    const names = [1, 2, 3, 4, 5].map((n) => `http://127.0.0.${n}:${port}`)
    for (const [n, url] of names.toReversed().entries()) await own.startRun(`c-${n}`, to({ url }))
    const pages: string[][] = []
    let nextPageToken = ''
    do {
      const page = await list(own, { pageSize: '2', nextPageToken })
      pages.push(page.destinations.map(({ destination }: { destination: string }) => destination))
      nextPageToken = page.nextPageToken ?? ''
    } while (nextPageToken !== '')
    assert.deepEqual(pages, [names.slice(0, 2), names.slice(2, 4), names.slice(4)])
    for (const bad of ['AAAA', '/w==']) {
      const query = new URLSearchParams({ nextPageToken: bad })
      assertSays(errorOf(await own.api.get(`${own.base}/destinations?${query}`, 400)), 'next_page_token')
    }
  })

  test('have limits that can be changed and given back to the settings', async () => {
    const own = await another()
    await using receiver = await startReceiver()
    await own.startRun('a', to(receiver))
    const limits = async (body: Wish) => {
      const { concurrency, rps, paused } = (await change(own, receiver.url, body)).body
      return [concurrency, rps, paused]
    }
    assert.deepEqual(await limits({ concurrency: 7, rps: 2.5 }), [7, 2.5, false])
    assert.deepEqual(await limits({}), [7, 2.5, false])
    assert.deepEqual(await limits({ rps: 0 }), [7, 0, false])
    assert.deepEqual(await limits({ concurrency: null }), [100, 0, false])
    assert.deepEqual(await limits({ concurrency: 3, rps: null, paused: true }), [3, 0, true])
    assert.deepEqual(await limits({ inherit: ['concurrency'], paused: false }), [100, 0, false])
    await own.api.patch(own.base, 200, { body: { destination: { concurrency: 9, rps: 4 } } })
    assert.deepEqual(await limits({}), [9, 4, false])
  })

  test('are found by every spelling of their name', async () => {
    const own = await another()
    await own.startRun('a', to({ url: 'https://hooks.example.org' }, { startDelay: '3600s' }))
    for (const name of ['https://hooks.example.org', 'HTTPS://Hooks.Example.ORG:443', 'https://hooks.example.org/']) {
      const { body } = await change(own, name, {})
      assert.equal(body.destination, 'https://hooks.example.org')
    }
  })

  test('refuse what cannot be', async () => {
    const own = await another()
    await using receiver = await startReceiver()
    await own.startRun('a', to(receiver))
    for (const [body, word] of [
      [{ concurrency: 0 }, 'concurrency'],
      [{ concurrency: 100_001 }, 'concurrency'],
      [{ concurrency: 1.5 }, 'concurrency'],
      [{ rps: -1 }, 'rps'],
      [{ rps: 1e9 }, 'rps'],
      [{ rps: 'NaN' }, 'rps'],
      [{ rps: 'Infinity' }, 'rps'],
      [{ paused: 'yes' }, 'paused'],
      [{ inherit: ['paused'] }, 'inherit'],
      [{ inherit: ['rps'], rps: 3 }, 'inherit'],
      [{ inherit: 'rps', concurrency: null }, 'inherit'],
      [{ limit: 3 }, 'limit'],
      [[], 'object'],
    ] as const) {
      const error = errorOf(await change(own, receiver.url, body as Wish, 400))
      assert.equal(error.code, 3)
      assertSays(error, word)
    }
    for (const name of ['nonsense', 'ftp://a.example.org', `${receiver.url}/path`, 'http://a:b@c.example.org']) {
      for (const call of [change(own, name, {}, 400), own.api.post(pathOf(own, name, '/reset'), 400)]) {
        assertSays(errorOf(await call), 'destination')
      }
    }
    for (const answer of [
      await change(own, 'https://unknown.example.org', {}, 404),
      await own.api.post(pathOf(own, 'https://unknown.example.org', '/reset'), 404),
      await own.api.get('/namespaces/nowhere/destinations', 404),
      await own.api.patch('/namespaces/nowhere/destinations/https%3A%2F%2Fa.example.org', 404, { body: {} }),
    ]) {
      assert.equal(errorOf(answer).code, 5)
    }
  })

  test('can be paused and resumed', async () => {
    const own = await another()
    await using receiver = await startReceiver()
    await own.startRun('before', to(receiver))
    await own.poll('before')
    assert.equal((await change(own, receiver.url, { paused: true })).body.paused, true)
    for (const id of ['a', 'b', 'c']) {
      await own.startRun(id, to(receiver))
      const { info } = await own.describe(id)
      assert.deepEqual(
        [info.state, info.blockedReason],
        ['CALLBACK_STATE_BLOCKED', `destination ${receiver.url} is paused`],
      )
    }
    assert.deepEqual([receiver.requests.all.length, (await shown(own, receiver)).waiting], [1, 3])
    await change(own, receiver.url, { paused: false })
    for (const id of ['a', 'b', 'c']) await own.poll(id)
    assert.equal(receiver.requests.all.length, 4)
  })

  test('can be paused and limited before the first callback goes there', async () => {
    const own = await another()
    await using receiver = await startReceiver()
    const limits = { concurrency: 3, rps: 50 }
    const { body } = await change(own, receiver.url.replace('http:', 'HTTP:'), { paused: true, ...limits })
    const { destination, paused, concurrency, rps, waiting } = body
    assert.deepEqual([destination, paused, { concurrency, rps }, waiting], [receiver.url, true, limits, 0])
    assert.deepEqual((await list(own)).destinations, [body])
    await own.startRun('first', to(receiver))
    assert.equal((await own.describe('first')).info.blockedReason, `destination ${receiver.url} is paused`)
    await change(own, receiver.url, { paused: false })
    await own.poll('first')
    assert.equal(receiver.requests.all.length, 1)
  })

  test('show an open breaker, and a reset closes it', async () => {
    const own = await another()
    let status = 503
    await using receiver = await startReceiver({ answer: () => ({ status }) })
    for (let n = 0; n < 6; n++) {
      await own.startRun(`c-${n}`, to(receiver))
      await own.untilState(`c-${n}`, 'BACKING_OFF')
    }
    await own.startRun('waits', to(receiver))
    const open = await shown(own, receiver)
    assert.deepEqual([open.breakerState, open.consecutiveFailures, open.waiting], ['open', 6, 1])
    assert.match(String(open.openUntil), /^\d{4}-/)
    status = 200
    const { body } = await own.api.post(pathOf(own, receiver.url, '/reset'), 200)
    assert.deepEqual([body.breakerState, body.openUntil, body.consecutiveFailures], ['closed', undefined, 0])
    await own.poll('waits')
    assert.equal(receiver.requests.all.length, 7)
  })

  test('leave a trace in the audit log for each change, and for nothing else', async () => {
    const own = await another()
    await using receiver = await startReceiver()
    await own.startRun('a', to(receiver))
    await change(own, receiver.url, { concurrency: 4, paused: true })
    await change(own, receiver.url, { concurrency: 4 })
    await change(own, receiver.url, { concurrency: null, paused: false })
    await own.api.post(pathOf(own, receiver.url, '/reset'), 200)
    await using callers = await openCallers(callbacks().server)
    const rows = await callers.db.query
      .selectFrom('audit_events')
      .select(['action', 'changes', 'actor_id', 'client_address'])
      .where('target_id', '=', `${own.namespace} ${receiver.url}`)
      .orderBy('position')
      .execute()
    assert.deepEqual(
      rows.map(({ action, changes }) => [action, JSON.parse(String(changes))]),
      [
        ['destination.updated', { concurrency: { old: null, new: 4 }, paused: { old: false, new: true } }],
        ['destination.updated', { concurrency: { old: 4, new: null }, paused: { old: true, new: false } }],
        ['destination.reset', {}],
      ],
    )
    assert.ok(rows.every((row) => row.actor_id !== null && row.client_address === '127.0.0.1'))
  })
})
