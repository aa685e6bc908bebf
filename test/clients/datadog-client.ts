/** The published client of the API whose shapes the users surface has, unmodified, pointed at a server of ours. */
import assert from 'node:assert/strict'
import { cachedClient } from '../support/client-cache.ts'
import type { TestServer } from '../support/start-server.ts'

const NAME = '@datadog/datadog-api-client'
const VERSION = '1.64.0'

// biome-ignore lint/suspicious/noExplicitAny: the package is not here when types are checked, so its own do not help
type Loose = any
type Api = Loose
export type ApiName = 'UsersApi' | 'RolesApi' | 'ServiceAccountsApi' | 'KeyManagementApi' | 'AuditApi'

interface Package {
  client: {
    createConfiguration(options: object): { unstableOperations: Record<string, boolean>; httpApi: Transport }
    BaseServerConfiguration: new (url: string, variables: object) => object
    ApiException: new () => { code: number; body: unknown }
  }
  v2: Record<ApiName, new (configuration: object) => Api>
}

interface Transport {
  sleep(milliseconds: number): Promise<void>
}

const found = await cachedClient(NAME, VERSION)

/** Why these tests are skipped; false when they run. */
export const skipped = found.unavailable ?? false

/** Where a program of its own finds the package. */
export const nodeModules = found.unavailable === null ? found.nodeModules : ''

let loaded: Package | undefined

function sdk(): Package {
  if (found.unavailable !== null) throw new Error(found.unavailable)
  loaded ??= found.load() as Package
  return loaded
}

export interface ClientOptions {
  /** The first administrator's key pair unless said otherwise. */
  keys?: { apiKey: string; applicationKey: string }
  token?: string
  enableRetry?: boolean
  maxRetries?: number
}

export interface Client {
  users: Api
  roles: Api
  serviceAccounts: Api
  keys: Api
  audit: Api
  /** How long it waited before each further try, in milliseconds. */
  waits: number[]
}

export function connect(server: TestServer, options: ClientOptions = {}): Client {
  const { client, v2 } = sdk()
  const { keys = server, token, ...more } = options
  const configuration = client.createConfiguration({
    baseServer: new client.BaseServerConfiguration(server.url, {}),
    authMethods:
      token === undefined
        ? { apiKeyAuth: keys.apiKey, appKeyAuth: keys.applicationKey }
        : { AuthZ: { accessToken: token } },
    ...more,
  })
  for (const name of ['v2.anonymizeUsers', 'v2.listRoleTemplates']) configuration.unstableOperations[name] = true
  const waits: number[] = []
  const { httpApi } = configuration
  const sleep = httpApi.sleep.bind(httpApi)
  httpApi.sleep = (milliseconds) => {
    waits.push(milliseconds)
    return sleep(milliseconds)
  }
  return {
    users: strict(new v2.UsersApi(configuration)),
    roles: strict(new v2.RolesApi(configuration)),
    serviceAccounts: strict(new v2.ServiceAccountsApi(configuration)),
    keys: strict(new v2.KeyManagementApi(configuration)),
    audit: new v2.AuditApi(configuration),
    waits,
  }
}

/** The operations an API class has, without the paging helpers. */
export function operationsOf(name: ApiName): string[] {
  return Object.getOwnPropertyNames(sdk().v2[name].prototype).filter(
    (method) => method !== 'constructor' && !method.endsWith('WithPagination'),
  )
}

/** The client throws its own exception, with this status and an error body of the documented shape. */
export async function assertFails(call: Promise<unknown>, status: number, text?: string | RegExp): Promise<void> {
  const error = await call.then(
    () => assert.fail(`expected ${status}, but it went well`),
    (problem: unknown) => problem,
  )
  assert.ok(error instanceof sdk().client.ApiException, String(error))
  assert.equal(error.code, status, JSON.stringify(error.body))
  // Bodies of statuses that an operation does not declare arrive as text.
  const body = typeof error.body === 'string' ? undeclared(error.body) : (error.body as { errors: string[] })
  assertParsed(body)
  assert.ok(Array.isArray(body.errors) && body.errors.length > 0, JSON.stringify(body))
  if (text === undefined) return
  if (typeof text === 'string') assert.equal(body.errors[0], text)
  else assert.match(body.errors.join('\n'), text)
}

function undeclared(text: string): { errors: string[] } {
  return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
}

/** Every answer was understood down to its last member. */
function strict(api: Api): Api {
  return new Proxy(api, {
    get(target, name: string) {
      const method = target[name]
      if (typeof method !== 'function') return method
      if (name.endsWith('WithPagination')) return (param?: object) => checkedPages(method.call(target, param))
      return async (param?: object) => {
        const answer = await method.call(target, param)
        assertParsed(answer)
        return answer
      }
    },
  })
}

async function* checkedPages(items: AsyncIterable<unknown>) {
  for await (const item of items) {
    assertParsed(item)
    yield item
  }
}

function assertParsed(value: unknown, path = 'the answer'): void {
  if (value === null || typeof value !== 'object' || value instanceof Date) {
    if (value instanceof Date) assert.ok(!Number.isNaN(value.getTime()), `${path} is no time`)
    return
  }
  assert.notEqual(value.constructor?.name, 'UnparsedObject', `${path} was not understood: ${JSON.stringify(value)}`)
  assert.ok(!('_unparsed' in value), `${path} was not understood: ${JSON.stringify(value).slice(0, 2_000)}`)
  for (const [name, member] of Object.entries(value)) assertParsed(member, `${path}.${name}`)
}
