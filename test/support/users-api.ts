import { type Callers, openCallers } from './callers.ts'
import { type StartServerOptions, startServer, type TestServer } from './start-server.ts'
import { client, type TestClient } from './test-client.ts'

export const USERS = '/api/v2/users'

export interface MadeUser {
  id: string
  attributes: Record<string, unknown>
  relationships: Record<string, { data: unknown }>
}

/** A running server with what tests of the users operations do over and over. */
export class UsersApi implements AsyncDisposable {
  readonly server: TestServer
  readonly admin: TestClient
  readonly callers: Callers
  #made = 0

  private constructor(server: TestServer, callers: Callers) {
    this.server = server
    this.admin = client(server)
    this.callers = callers
  }

  static async start(options?: Pick<StartServerOptions, 'engine'>): Promise<UsersApi> {
    const server = await startServer(options)
    return new UsersApi(server, await openCallers(server))
  }

  /** One that nobody has. */
  newEmail(): string {
    return `user-${++this.#made}@example.org`
  }

  newBody(attributes: Record<string, unknown> = {}, roleIds?: readonly string[]) {
    const roles = roleIds && { roles: { data: roleIds.map((id) => ({ id, type: 'roles' })) } }
    const email = this.newEmail()
    return { data: { type: 'users', attributes: { email, ...attributes }, relationships: roles } }
  }

  async create(attributes: Record<string, unknown> = {}, roleIds?: readonly string[]): Promise<MadeUser> {
    const { body } = await this.admin.post(USERS, 201, { body: this.newBody(attributes, roleIds) })
    return body.data
  }

  async roleIdOf(name: string): Promise<string> {
    const { body } = await this.admin.get(`/api/v2/roles?filter=${encodeURIComponent(name)}`, 200)
    return body.data[0].id
  }

  /** What was written down about a target, oldest first. */
  async auditActions(target: string): Promise<string[]> {
    const rows = await this.callers.db.query
      .selectFrom('audit_events')
      .select('action')
      .where('target_id', '=', target)
      .orderBy('position')
      .execute()
    return rows.map((row) => row.action)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.callers[Symbol.asyncDispose]()
    await this.server.stop()
  }
}

export function patchBody(id: string, attributes: Record<string, unknown>) {
  return { body: { data: { type: 'users', id, attributes } } }
}
