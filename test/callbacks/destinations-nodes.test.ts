import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import { type Receiver, startReceiver } from '../support/receivers/receiver.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const unavailable = postgresUnavailable()
const ENV = { COMMONPLACE_CALLBACKS__BREAKER__OPEN_FOR: '1h' }
const LATER = { initialInterval: '3600s', maximumInterval: '3600s' }

let made = 0

describe('destinations of two processes', { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
  let servers: TestServer[]
  let one: TestClient
  let two: TestClient
  before(async () => {
    const first = await startServer({ engine: 'postgres', env: ENV })
    const second = await startServer({ databaseUrl: first.databaseUrl as string, env: ENV })
    servers = [first, second]
    one = client(first)
    two = client(second)
  })
  after(() => Promise.all(servers.map((server) => server.stop())))

  async function start(at: TestClient, { url }: Receiver): Promise<string> {
    const id = `c-${++made}`
    const completion = { success: null }
    const body = { identity: 'test', callback: { nexus: { url } }, completion, retryPolicy: LATER }
    await at.post(`/namespaces/default/callbacks/${id}`, 200, { body })
    return id
  }

  /** As soon as its attempt is over, or held back. */
  async function settled(at: TestClient, id: string): Promise<string> {
    for (;;) {
      const { info } = (await at.get(`/namespaces/default/callbacks/${id}`, 200)).body
      if (info.state !== 'CALLBACK_STATE_SCHEDULED') return info.state.slice('CALLBACK_STATE_'.length)
    }
  }

  function pathOf({ url }: Receiver, rest = ''): string {
    return `/namespaces/default/destinations/${encodeURIComponent(url)}${rest}`
  }

  async function shown(at: TestClient, { url }: Receiver) {
    const { body } = await at.get('/namespaces/default/destinations', 200)
    return body.destinations.find(({ destination }: { destination: string }) => destination === url)
  }

  function poll(at: TestClient, id: string) {
    return at.get(`/namespaces/default/callbacks/${id}/outcome`, 200)
  }

  test('are paused and resumed in both, whichever was asked', async () => {
    await using receiver = await startReceiver()
    for (const at of [one, two]) await poll(at, await start(at, receiver))
    await one.patch(pathOf(receiver), 200, { body: { paused: true } })
    // The other process hears of it a moment later: what it starts until then is sent, the last one maybe while it hears.
    const held: string[] = []
    while (held.length === 0) {
      const id = await start(two, receiver)
      if ((await settled(two, id)) !== 'BLOCKED') continue
      while ((await shown(two, receiver)).inFlight > 0);
      if ((await settled(two, id)) === 'BLOCKED') held.push(id)
    }
    const sent = receiver.requests.all.length
    for (const at of [one, two]) {
      const id = await start(at, receiver)
      assert.equal(await settled(at, id), 'BLOCKED')
      held.push(id)
    }
    // One that was claimed before its process heard of it counts as in flight until the claim is over.
    for (let waiting = 0; waiting !== 3; ) ({ waiting } = await shown(two, receiver))
    assert.equal(receiver.requests.all.length, sent)
    await two.patch(pathOf(receiver), 200, { body: { paused: false } })
    for (const id of held) await poll(one, id)
    assert.equal(receiver.requests.all.length, sent + 3)
  })

  test('have their breaker closed in both by one reset', async () => {
    let status = 503
    await using receiver = await startReceiver({ answer: () => ({ status }) })
    for (const at of [one, two]) {
      do await settled(at, await start(at, receiver))
      while ((await shown(at, receiver)).breakerState === 'closed')
    }
    status = 200
    const { body } = await one.post(pathOf(receiver, '/reset'), 200)
    assert.equal(body.breakerState, 'closed')
    // The signal is on its way to the other one.
    while ((await shown(two, receiver)).breakerState !== 'closed');
    await poll(two, await start(two, receiver))
  })
})
