import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { postgresUnavailable } from '../support/postgres.ts'
import { type Receiver, startReceiver } from '../support/receivers/receiver.ts'
import { type StartServerOptions, startServer, type TestServer } from '../support/start-server.ts'
import { type Answer, type CallOptions, client, type TestClient } from '../support/test-client.ts'

export const NOBODY = '018f0000-0000-7000-8000-000000000000'
const ALREADY_STARTED = 'type.googleapis.com/temporal.api.errordetails.v1.CallbackExecutionAlreadyStartedFailure'

/** What a silent receiver keeps open stays so, however slow the machine is; and who waits in vain ends before the test. */
const PATIENT = {
  COMMONPLACE_CALLBACKS__REQUEST_TIMEOUT: '10m',
  COMMONPLACE_CALLBACKS__LONG_POLL__TIMEOUT: '30s',
}

export type Wish = Record<string, unknown>

export interface WireError {
  code: number
  message: string
  details: Record<string, unknown>[]
}

export interface WireInfo {
  callbackId: string
  runId: string
  callback: { nexus: { url: string; header?: Record<string, string>; token?: string }; links?: unknown[] }
  status: string
  state: string
  attempt?: number
  createTime: string
  lastAttemptCompleteTime?: string
  lastAttemptFailure?: Record<string, unknown>
  nextAttemptScheduleTime?: string
  blockedReason?: string
  closeTime?: string
  searchAttributes?: { indexedFields: Record<string, unknown> }
  scheduleToCloseTimeout?: string
  stateTransitionCount: string
}

export interface WireDescription {
  info: WireInfo
  input?: unknown
  outcome?: { success?: object; failure?: Record<string, unknown> }
  longPollToken?: string
}

/** A running server, a receiver that answers as told, and the callbacks of one namespace. */
export class CallbacksApi implements AsyncDisposable {
  readonly server: TestServer
  readonly api: TestClient
  /** Answers 200 unless told otherwise. */
  readonly receiver: Receiver
  /** Takes requests and never answers: what goes there stays in flight. */
  readonly silent: Receiver
  readonly namespace: string
  readonly base: string
  #stopped: Promise<void> | undefined

  static async start(options: StartServerOptions = {}): Promise<CallbacksApi> {
    const [server, receiver, silent] = await Promise.all([
      startServer({ ...options, env: { ...PATIENT, ...options.env } }),
      startReceiver(),
      startReceiver({ answer: null }),
    ])
    return new CallbacksApi(server, receiver, silent, 'default')
  }

  private constructor(server: TestServer, receiver: Receiver, silent: Receiver, namespace: string) {
    this.server = server
    this.api = client(server)
    this.receiver = receiver
    this.silent = silent
    this.namespace = namespace
    this.base = `/namespaces/${namespace}`
  }

  /** The same in a new namespace, whose runs are its own. */
  async another(name: string, wish: Wish = {}): Promise<CallbacksApi> {
    await this.api.post('/namespaces', 200, { body: { name, ...wish } })
    return new CallbacksApi(this.server, this.receiver, this.silent, name)
  }

  at(id: string, rest = ''): string {
    return `${this.base}/callbacks/${encodeURIComponent(id)}${rest}`
  }

  /** What a start needs at least, to the receiver that answers. */
  wish(more: Wish = {}): Wish {
    const callback = { nexus: { url: `${this.receiver.url}/hook` } }
    return { identity: 'test', callback, completion: { success: { paid: true } }, ...more }
  }

  /** One that stays as it is until somebody ends it. */
  async startRunning(id: string, more: Wish = {}): Promise<string> {
    return this.startRun(id, { callback: { nexus: { url: `${this.silent.url}/hook` } }, ...more })
  }

  async startRun(id: string, more: Wish = {}): Promise<string> {
    const { body } = await this.post(id, this.wish(more), 200)
    assert.deepEqual(Object.keys(body), ['runId'])
    return body.runId
  }

  post(id: string, wish: unknown, status: number, options: CallOptions = {}) {
    return this.api.post<{ runId: string }>(this.at(id), status, { body: wish, ...options })
  }

  /** The error of a start, which must have the shape of the surface. */
  async refusal(id: string, wish: unknown, status = 400): Promise<WireError> {
    return errorOf(await this.api.post(this.at(id), status, { body: wish }))
  }

  async describe(id: string, query = ''): Promise<WireDescription> {
    return (await this.api.get(this.at(id, query), 200)).body
  }

  /** Waits for it by long polls. */
  async until(id: string, isSo: (info: WireInfo) => boolean, runId?: string): Promise<WireInfo> {
    let query = runId === undefined ? '' : `?runId=${runId}`
    for (;;) {
      const { info, longPollToken } = await this.describe(id, query)
      if (info === undefined) assert.fail(JSON.stringify(await this.describe(id)))
      if (isSo(info)) return info
      assert.ok(longPollToken, `${id} is closed as ${info.state} and will never be as the test wants it`)
      query = `?runId=${info.runId}&longPollToken=${encodeURIComponent(longPollToken)}`
    }
  }

  untilState(id: string, state: string): Promise<WireInfo> {
    return this.until(id, (info) => info.state === `CALLBACK_STATE_${state}`)
  }

  /** Waits until it is closed; one that does not close in the time of a long poll fails the test and is shown. */
  async closed(id: string): Promise<{ runId: string; outcome: NonNullable<WireDescription['outcome']> }> {
    const { body } = await this.poll(id)
    if (body.runId === undefined) assert.fail(JSON.stringify(await this.describe(id)))
    return body
  }

  poll(id: string, query = '', status = 200, options?: CallOptions) {
    return this.api.get(this.at(id, `/outcome${query}`), status, options)
  }

  terminate(id: string, body: Wish = {}, status = 200) {
    return this.api.post(this.at(id, '/terminate'), status, { body })
  }

  delete(id: string, query = '', status = 200) {
    return this.api.delete(this.at(id, query), status)
  }

  list(query: Record<string, string> = {}, status = 200) {
    return this.api.get(`${this.base}/callbacks?${new URLSearchParams(query)}`, status)
  }

  count(query = '', status = 200) {
    return this.api.get(`${this.base}/callback-count?${new URLSearchParams({ query })}`, status)
  }

  /** Once, however often it is asked for. */
  stop(): Promise<void> {
    this.#stopped ??= Promise.all([this.receiver.stop(), this.silent.stop(), this.server.stop()]).then(() => {})
    return this.#stopped
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** The body of an error answer: three members and nothing else. */
export function errorOf({ body }: Answer<unknown>): WireError {
  assert.deepEqual(Object.keys(body as object), ['code', 'message', 'details'])
  return body as WireError
}

/** The message says all of these. */
export function assertSays({ message }: WireError, ...words: string[]): void {
  for (const word of words) assert.ok(message.includes(word), `"${message}" does not say "${word}"`)
}

export function alreadyStarted(runId: string, startRequestId: string): object {
  return { '@type': ALREADY_STARTED, startRequestId, runId }
}

/** Describes the suite twice: on a server over SQLite and on one over PostgreSQL. */
export function eachServer(
  name: string,
  suite: (callbacks: () => CallbacksApi) => void,
  options: StartServerOptions = {},
): void {
  for (const engine of ['sqlite', 'postgres'] as const) {
    const unavailable = engine === 'postgres' ? postgresUnavailable() : null
    const title = `${name} (${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`
    describe(title, { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
      let callbacks: CallbacksApi
      before(async () => {
        callbacks = await CallbacksApi.start({ engine, ...options })
      })
      after(() => callbacks[Symbol.asyncDispose]())
      suite(() => callbacks)
    })
  }
}
