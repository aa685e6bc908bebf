import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import { type ReceivedRequest, type Receiver, socketClosed, startReceiver } from '../support/receivers/receiver.ts'
import { startServer, type TestServer } from '../support/start-server.ts'

// Two dozen for each engine, in parts. Each starts nine servers and waits, on PostgreSQL, until the claims of the last dead one are
// over: on a busy machine more than a minute.
const PARTS = 3
const PART_MS = 120_000
// Before that the test itself says what it waits for.
const LATE_MS = 110_000
const KILLS = 8
const CLIENTS = 8
// Requests at the receiver between two kills, at most.
const MOST_BETWEEN_KILLS = 60
const SETTINGS = {
  COMMONPLACE_CALLBACKS__RETRY__INITIAL_INTERVAL: '20ms',
  COMMONPLACE_CALLBACKS__RETRY__MAX_INTERVAL: '100ms',
  COMMONPLACE_CALLBACKS__BREAKER__CONSECUTIVE_FAILURES: '1000',
  COMMONPLACE_CALLBACKS__REQUEST_TIMEOUT: '1s',
}

/** A request as the receiver saw it, and what it answered. */
interface Seen {
  runId: string
  attempt: number
  status: number
  /** How many kills had come before. */
  kills: number
}

interface Info {
  runId: string
  status: string
  state: string
  attempt?: number
}

for (const engine of ['sqlite', 'postgres'] as const) {
  const skip = engine === 'postgres' && postgresUnavailable() !== null
  describe(`a server that is killed under load (${engine})`, { skip }, () => {
    for (let part = 1; part <= PARTS; part++) {
      const title = `loses no acknowledged start, ends each once, sends twice only what was in flight (${part})`
      test(title, { timeout: PART_MS }, async (t) => {
        const world = new CrashWorld(engine)
        const late = Promise.withResolvers<never>()
        const timer = setTimeout(() => late.reject(new Error(`It waits: ${world.where()}`)), LATE_MS)
        try {
          await Promise.race([world.play(t).then(() => world.check()), late.promise])
        } finally {
          clearTimeout(timer)
          await world.stop()
        }
      })
    }
  })
}

class CrashWorld {
  readonly #engine: 'sqlite' | 'postgres'
  readonly #seen: Seen[] = []
  readonly #acknowledged = new Map<string, string>()
  #kills = 0
  #server: TestServer | null = null
  #receiver: Receiver | null = null
  #onSeen: () => void = () => {}
  #next = 0
  /** What it waits for. */
  #stage = ''
  /** How many requests must come before the next kill. */
  #left = 0
  /** Why clients ended. */
  readonly #ends: string[] = []

  constructor(engine: 'sqlite' | 'postgres') {
    this.#engine = engine
  }

  where(): string {
    const [seen, acknowledged, ends] = [this.#seen.length, this.#acknowledged.size, this.#ends.slice(-CLIENTS)]
    return JSON.stringify({ stage: this.#stage, left: this.#left, kills: this.#kills, seen, acknowledged, ends })
  }

  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]()
    await this.#receiver?.[Symbol.asyncDispose]()
  }

  async play(t: { diagnostic(text: string): void }): Promise<void> {
    // Until all is checked: a start that nobody was told of may be claimed by the dead for longer than the others, and ends there.
    const receiver = await startReceiver({ answer: (request) => this.#answer(request) })
    this.#receiver = receiver
    this.#server = await startServer({ engine: this.#engine, env: SETTINGS })
    const { dataDir } = this.#server
    const databaseUrl = this.#server.databaseUrl ?? undefined
    while (this.#kills < KILLS) {
      const clients = Array.from({ length: CLIENTS }, () =>
        this.#startUntilKilled(this.#server as TestServer, receiver.url),
      )
      this.#stage = 'requests'
      await this.#received(1 + Math.floor(Math.random() * MOST_BETWEEN_KILLS))
      this.#stage = 'the kill'
      await this.#server.kill()
      this.#stage = `clients, and ${receiver.open.size} connections of the dead`
      // Whoever comes later is let in later: then all connections of the server are open, and what it had sent is received
      // before they close.
      await fetch(receiver.url)
      await Promise.all([...clients, ...[...receiver.open].map(socketClosed)])
      this.#kills++
      this.#stage = 'the next server'
      this.#server = await startServer({
        engine: this.#engine,
        env: SETTINGS,
        dataDir,
        ...(databaseUrl && { databaseUrl }),
      })
    }
    t.diagnostic(`${this.#acknowledged.size} acknowledged, ${this.#seen.length} requests, ${this.#kills} kills`)
    this.#stage = 'outcomes'
    await this.#each((callbackId, runId) => this.#poll(callbackId, runId))
  }

  async check(): Promise<void> {
    this.#stage = 'descriptions'
    const seenOf = Map.groupBy(this.#seen, ({ runId }) => runId)
    await this.#each(async (callbackId, runId) => {
      const { info } = await this.#get<{ info: Info }>(`/${callbackId}?runId=${runId}`)
      const seen = seenOf.get(runId) ?? []
      const where = `${callbackId}: ${JSON.stringify({ info, seen })}`
      assert.ok(['CALLBACK_STATE_SUCCEEDED', 'CALLBACK_STATE_FAILED'].includes(info.state), where)
      const good = seen.filter(({ status }) => status === 200)
      if (info.state === 'CALLBACK_STATE_SUCCEEDED') assert.ok(good.length >= 1, where)
      else
        assert.ok(
          seen.some(({ status }) => status === 400),
          where,
        )
      if ((info.attempt ?? 0) > seen.length) {
        const attempts = await this.#get(`/${callbackId}/attempts?runId=${runId}`)
        assert.fail(`more attempts than the receiver saw: ${where}, ${JSON.stringify(attempts)}`)
      }
      for (const [index, request] of seen.entries()) {
        const before = seen[index - 1]
        if (before === undefined || before.attempt < request.attempt) continue
        // The same attempt again: its result was lost with the process that was killed meanwhile.
        assert.equal(before.attempt, request.attempt, where)
        assert.ok(before.kills < request.kills, where)
      }
    })
    // Those that nobody was told of end, too, as soon as their last attempt is made; one that never did would keep the test waiting.
    this.#stage = 'the end of all others'
    for (let running = await this.#running(); running.length > 0; running = await this.#running()) {
      await Promise.all(running.map(({ callbackId, runId }) => this.#poll(callbackId, runId)))
    }
    assert.deepEqual(await this.#running(), [])
  }

  async #running(): Promise<{ callbackId: string; runId: string }[]> {
    const query = encodeURIComponent("ExecutionStatus = 'Running'")
    const { executions = [] } = await this.#get<{ executions?: { callbackId: string; runId: string }[] }>(
      `?query=${query}`,
    )
    return executions
  }

  /** What was promised, some at a time. */
  async #each(look: (callbackId: string, runId: string) => Promise<void>): Promise<void> {
    const left = [...this.#acknowledged]
    const lookOn = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) await look(...next)
    }
    await Promise.all(Array.from({ length: CLIENTS }, lookOn))
  }

  #answer({ headers }: ReceivedRequest) {
    if (headers['webhook-id'] === undefined) return { status: 204, headers: { connection: 'close' } }
    const chance = Math.random()
    const status = chance < 0.7 ? 200 : chance < 0.95 ? 503 : 400
    const [runId, attempt] = [String(headers['webhook-id']), Number(headers['webhook-attempt'])]
    this.#seen.push({ runId, attempt, status, kills: this.#kills })
    this.#onSeen()
    return { status }
  }

  #received(count: number): Promise<void> {
    return new Promise((resolve) => {
      this.#left = count
      this.#onSeen = () => {
        if (--this.#left === 0) resolve()
      }
    })
  }

  async #startUntilKilled(server: TestServer, url: string): Promise<void> {
    for (;;) {
      const callbackId = `c-${this.#next++}`
      const body = { identity: 'test', callback: { nexus: { url } }, completion: { success: callbackId } }
      try {
        const answer = await fetch(`${server.url}/namespaces/default/callbacks/${callbackId}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        const { runId } = (await answer.json()) as { runId: string }
        assert.equal(answer.status, 200)
        this.#acknowledged.set(callbackId, runId)
      } catch (error) {
        // Killed meanwhile: nothing was promised.
        if (error instanceof assert.AssertionError) throw error
        this.#ends.push(`${this.#stage}: ${(error as Error).cause ?? error}`)
        return
      }
    }
  }

  async #poll(callbackId: string, runId: string): Promise<void> {
    for (;;) {
      const { outcome } = await this.#get<{ outcome?: object }>(`/${callbackId}/outcome?runId=${runId}`)
      if (outcome !== undefined) return
    }
  }

  async #get<T>(path: string, collection = 'callbacks'): Promise<T> {
    const { url, adminToken } = this.#server as TestServer
    const answer = await fetch(`${url}/namespaces/default/${collection}${path}`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    const body = (await answer.json()) as T
    assert.equal(answer.status, 200, `${path}: ${JSON.stringify(body)}`)
    return body
  }
}
