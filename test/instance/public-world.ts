import { after, before, describe } from 'node:test'
import type { Engine } from '../../src/platform/storage/engine.ts'
import { type Callers, openCallers } from '../support/callers.ts'
import { postgresUnavailable } from '../support/postgres.ts'
import { type StartServerOptions, startServer, type TestServer } from '../support/start-server.ts'
import { type Answer, type CallOptions, client, type TestClient } from '../support/test-client.ts'

// Limits have tests of their own.
const NO_LIMITS = {
  COMMONPLACE_INSTANCE__RATE_LIMITS__PER_IP: '0',
  COMMONPLACE_INSTANCE__RATE_LIMITS__PER_TOKEN: '0',
  COMMONPLACE_INSTANCE__RATE_LIMITS__PER_USER: '0',
}

/** The ten of the specification. */
export const ENDPOINTS = {
  v2: '/api/v2/instance',
  v1: '/api/v1/instance',
  peers: '/api/v1/instance/peers',
  activity: '/api/v1/instance/activity',
  rules: '/api/v1/instance/rules',
  blocks: '/api/v1/instance/domain_blocks',
  description: '/api/v1/instance/extended_description',
  privacy: '/api/v1/instance/privacy_policy',
  terms: '/api/v1/instance/terms_of_service',
  languages: '/api/v1/instance/translation_languages',
} as const

export const PUBLIC_CACHE = 'max-age=300, public, stale-while-revalidate=30, stale-if-error=86400'

// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an answer, it asserts
export type Loose = any

/** A running server whose public face is looked at by strangers, by users and by an administrator. */
export class PublicWorld implements AsyncDisposable {
  readonly server: TestServer
  readonly admin: TestClient
  readonly stranger: TestClient
  readonly callers: Callers

  static async start(options: StartServerOptions = {}): Promise<PublicWorld> {
    const env = { ...NO_LIMITS, ...options.env }
    const server = await startServer({ mode: 'serve', ...options, env })
    return new PublicWorld(server, await openCallers(server))
  }

  private constructor(server: TestServer, callers: Callers) {
    this.server = server
    this.callers = callers
    this.admin = client(server)
    this.stranger = client(server, 'none')
  }

  /** What strangers are told. */
  get(path: string, status = 200, options?: CallOptions): Promise<Answer<Loose>> {
    return this.stranger.get(path, status, options)
  }

  /** Changes settings; null returns to the default. */
  async set(patch: object): Promise<void> {
    await this.admin.patch('/api/v1/admin/instance', 200, { body: patch })
  }

  async block(domain: string, more: object = {}): Promise<void> {
    await this.admin.post('/api/v1/admin/domain_blocks', 200, { body: { domain, ...more } })
  }

  async declarePeers(...domains: string[]): Promise<void> {
    for (const domain of domains) await this.admin.post('/api/v1/admin/instance/peers', 200, { body: { domain } })
  }

  async allow(domain: string): Promise<void> {
    await this.admin.post('/api/v1/admin/domain_allows', 200, { body: { domain } })
  }

  async addRule(text: string, more: object = {}): Promise<string> {
    const { body } = await this.admin.post('/api/v1/admin/instance/rules', 200, { body: { text, ...more } })
    return body.id
  }

  async publishTerms(text: string, effectiveDate: string): Promise<void> {
    const { body } = await this.admin.post('/api/v1/admin/instance/terms_of_service', 200, { body: { text } })
    const publication = { effective_date: effectiveDate }
    await this.admin.post(`/api/v1/admin/instance/terms_of_service/${body.id}/publish`, 200, { body: publication })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.callers[Symbol.asyncDispose]()
    await this.server.stop()
  }
}

/** Describes the suite twice: on a server over SQLite and on one over PostgreSQL. */
export function eachPublicWorld(name: string, suite: (world: () => PublicWorld, engine: Engine) => void): void {
  for (const engine of ['sqlite', 'postgres'] as const) {
    const unavailable = engine === 'postgres' ? postgresUnavailable() : null
    const title = `${name} (${engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'})`
    describe(title, { skip: unavailable !== null && `PostgreSQL: ${unavailable}` }, () => {
      let world: PublicWorld
      before(async () => {
        world = await PublicWorld.start({ engine })
      })
      after(() => world[Symbol.asyncDispose]())
      suite(() => world, engine)
    })
  }
}

/** `YYYY-MM-DD`, so many days from today, UTC. */
export function dayFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
}
