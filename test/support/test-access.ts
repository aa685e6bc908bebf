import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Callers, openCallers } from './callers.ts'
import { bearerHeader, type CredentialHeaders, incompleteCredentials, uselessCredentials } from './credential-cases.ts'
import { offeredOperations } from './operations.ts'
import { startServer, type TestServer } from './start-server.ts'
import { client, type TestClient } from './test-client.ts'

export interface RuledOperation {
  permission: string
  /** What somebody is answered who may call it, about something that is not there; it changes nothing. */
  passed: number
  body?: unknown
}

export interface RuledCall {
  title: string
  method: string
  path: string
  operation: RuledOperation
  status: number
  headers: CredentialHeaders
}

export interface AccessRules {
  /** By method and path; one that is missing here fails the first test. */
  operations: Readonly<Record<string, RuledOperation>>
  /** Which paths of the server must be among them. */
  isListed(path: string): boolean
  /** Makes one call, and looks at its answer. */
  call(anybody: TestClient, call: RuledCall): Promise<void>
  /** The answer to credentials that do not work. */
  useless: 401 | 403
  /** What managed roles hold of the permissions. */
  roles: Readonly<Record<string, readonly string[]>>
  /** What tokens of an administrator are narrowed to. */
  scopes: readonly (readonly string[])[]
}

interface AccessWorld {
  server: TestServer
  callers: Callers
  anybody: TestClient
}

/** Who may call each operation of a table, on a server of its own, which is there for other tests, too. */
export function testAccess(what: string, rules: AccessRules): () => AccessWorld {
  let world: AccessWorld
  before(async () => {
    const server = await startServer({ mode: 'serve' })
    world = { server, callers: await openCallers(server), anybody: client(server, 'none') }
  })
  after(async () => {
    await world.callers[Symbol.asyncDispose]()
    await world.server.stop()
  })

  async function callAll(headers: CredentialHeaders, statusOf: (operation: RuledOperation) => number): Promise<void> {
    for (const [title, operation] of Object.entries(rules.operations)) {
      const [method, path] = title.split(' ') as [string, string]
      await rules.call(world.anybody, { title, method, path, operation, status: statusOf(operation), headers })
    }
  }

  test(`every operation on ${what} has its line in the table of rules, and every line its operation`, async () => {
    const offered = await offeredOperations(world.server, rules.isListed)
    assert.deepEqual(offered, Object.keys(rules.operations).sort())
  })

  test(`every operation on ${what} is 401 without complete credentials and ${rules.useless} with useless ones`, async () => {
    const { server, callers } = world
    for (const headers of Object.values(incompleteCredentials(server))) await callAll(headers, () => 401)
    for (const headers of Object.values(await uselessCredentials(server, callers))) {
      await callAll(headers, () => rules.useless)
    }
  })

  test(`every operation on ${what} lets exactly those pass who have its permission`, async () => {
    const { callers } = world
    const callAs = async (caller: Parameters<Callers['make']>[0], held: readonly string[]) => {
      const { token } = await callers.make(caller)
      await callAll(bearerHeader(token), ({ permission, passed }) => (held.includes(permission) ? passed : 403))
    }
    for (const [role, held] of Object.entries(rules.roles)) await callAs({ roles: [role] }, held)
    await callAs({}, [])
    for (const scopes of rules.scopes) await callAs({ roles: ['admin'], scopes: [...scopes] }, scopes)
  })

  return () => world
}
