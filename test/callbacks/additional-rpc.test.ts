import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node'
import { CallbackService } from '../../src/gen/commonplace/callbacks/v1/callbacks_pb.js'
import { type Callers, openCallers } from '../support/callers.ts'
import { startReceiver } from '../support/receivers/receiver.ts'
import { CallbacksApi } from './callbacks-api.ts'
import { signingSecret } from './namespace-world.ts'

/** Who may call each method, as the contract says it. */
const ACCESS = {
  listCallbackAttempts: 'callbacks_read',
  retryCallbackExecution: 'callbacks_write',
  replayCallbackExecution: 'callbacks_write',
  startBulkReplay: 'callbacks_write',
  describeBulkReplay: 'callbacks_read',
  listDestinations: 'callbacks_read',
  updateDestination: 'callbacks_write',
  resetDestination: 'callbacks_write',
  sendTest: 'callbacks_write',
  listNamespaces: 'callbacks_read',
  createNamespace: 'org_management',
  getNamespace: 'callbacks_read',
  updateNamespace: 'org_management',
  deleteNamespace: 'org_management',
} as const

describe('the additional operations over RPC', () => {
  let callbacks: CallbacksApi
  let callers: Callers
  before(async () => {
    callbacks = await CallbacksApi.start()
    callers = await openCallers(callbacks.server)
  })
  after(async () => {
    await callers[Symbol.asyncDispose]()
    await callbacks[Symbol.asyncDispose]()
  })

  function transports(): Record<string, Transport> {
    const { url: baseUrl, grpcUrl } = callbacks.server
    return {
      connect: createConnectTransport({ baseUrl, httpVersion: '1.1' }),
      'grpc-web': createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
      grpc: createGrpcTransport({ baseUrl: grpcUrl }),
    }
  }

  function over(transport: Transport, token = callbacks.server.adminToken) {
    const withToken: Transport = {
      ...transport,
      unary: (method, signal, timeoutMs, header, input, values) =>
        transport.unary(
          method,
          signal,
          timeoutMs,
          { ...Object.fromEntries(new Headers(header)), authorization: `Bearer ${token}` },
          input,
          values,
        ),
    }
    return createClient(CallbackService, withToken)
  }

  test('every one is offered, and asks for its permission', async () => {
    const [transport] = Object.values(transports()) as [Transport]
    const permissions = ['callbacks_read', 'callbacks_write', 'org_management']
    for (const scope of permissions) {
      const { token } = await callers.make({ roles: ['admin'], scopes: [scope] })
      const client = over(transport, token)
      for (const [name, access] of Object.entries(ACCESS)) {
        const call = client[name as keyof typeof ACCESS] as (request: object) => Promise<unknown>
        const code = await call({ namespace: 'nowhere' }).then(
          () => null,
          (error: unknown) => ConnectError.from(error).code,
        )
        if (access === scope) assert.ok(code !== Code.PermissionDenied && code !== Code.Unimplemented, name)
        else assert.equal(code, Code.PermissionDenied, name)
      }
    }
    const offered = CallbackService.methods.map(({ localName }) => localName)
    const shared = offered.filter((name) =>
      /^(start|describe|poll|list|count|terminate|delete)CallbackExecutions?$/.test(name),
    )
    assert.deepEqual(offered.filter((name) => !shared.includes(name)).sort(), Object.keys(ACCESS).sort())
  })

  test('attempts, retries, replays and destinations say the same as over HTTP', async () => {
    for (const [protocol, transport] of Object.entries(transports())) {
      const client = over(transport)
      await using receiver = await startReceiver()
      receiver.script({ status: 503 })
      const namespace = 'default'
      const callbackId = `over ${protocol}`
      const retryPolicy = { initialInterval: '3600s', maximumInterval: '3600s' }
      await callbacks.startRun(callbackId, { callback: { nexus: { url: receiver.url } }, retryPolicy })
      await callbacks.untilState(callbackId, 'BACKING_OFF')
      await client.retryCallbackExecution({ namespace, callbackId })
      await callbacks.poll(callbackId)
      const { attempts } = await client.listCallbackAttempts({ namespace, callbackId, pageSize: 1 })
      assert.deepEqual(
        attempts.map(({ attempt, statusCode }) => [attempt, statusCode]),
        [[2, 200]],
      )

      const replay = { namespace, sourceCallbackId: callbackId, requestId: 'again' }
      const { runId } = await client.replayCallbackExecution(replay)
      assert.equal((await client.replayCallbackExecution(replay)).runId, runId)
      await callbacks.poll(callbackId)
      const query = `CallbackId = '${callbackId}'`
      const { jobId, matched } = await client.startBulkReplay({ namespace, query, dryRun: true })
      assert.deepEqual([jobId, matched], ['', 2])
      const bulk = await client.startBulkReplay({ namespace, query })
      const progress = await client.describeBulkReplay({ namespace, jobId: bulk.jobId })
      assert.equal(progress.matched, 2)

      const destination = receiver.url
      const changed = await client.updateDestination({ namespace, destination, concurrency: 3, rps: 1.5 })
      assert.deepEqual([changed.concurrency, changed.rps, changed.paused], [3, 1.5, false])
      const back = await client.updateDestination({ namespace, destination, inherit: ['concurrency', 'rps'] })
      assert.deepEqual([back.concurrency, back.rps], [100, 0])
      assert.equal((await client.resetDestination({ namespace, destination })).breakerState, 'closed')
      const { destinations } = await client.listDestinations({ namespace })
      assert.ok(destinations.some((one) => one.destination === destination))

      const callback = { variant: { case: 'nexus', value: { url: receiver.url } } } as const
      const sent = await client.sendTest({ namespace, callback })
      assert.deepEqual([sent.attempt, sent.outcome, sent.statusCode], [1, 'success', 200])
      await assert.rejects(client.sendTest({ namespace }), { code: Code.InvalidArgument })
    }
  })

  test('namespaces are made, read, changed and deleted', async () => {
    for (const [protocol, transport] of Object.entries(transports())) {
      const client = over(transport)
      const name = `rpc-${protocol}`
      const created = await client.createNamespace({
        name,
        description: 'Paid ones',
        retention: { seconds: 604_800n },
        allowedAddresses: [{ pattern: '*.example.org' }],
        searchAttributes: { Team: 'Keyword', Amount: 'Int' },
        signing: { generate: true },
        policy: { requestTimeout: '5s', retry: { maxInterval: '60s' } },
      })
      assert.match(created.signing?.generatedSecret ?? '', /^whsec_/)
      const shown = await client.getNamespace({ namespace: name })
      assert.equal(shown.signing?.generatedSecret, '')
      const overHttp = await callbacks.api.get(`/namespaces/${name}`, 200)
      const { description, retention, allowedAddresses, searchAttributes, policy, overrides, signing } = shown
      assert.deepEqual(
        [description, retention?.seconds, allowedAddresses[0]?.pattern, searchAttributes, signing?.secretCount],
        ['Paid ones', 604_800n, '*.example.org', { Team: 'Keyword', Amount: 'Int' }, 1],
      )
      assert.deepEqual([...overrides].sort(), [
        'allowedAddresses',
        'requestTimeout',
        'retention',
        'retry.maxInterval',
        'signing',
      ])
      assert.deepEqual(overrides, overHttp.body.overrides)
      for (const [key, value] of Object.entries(policy ?? {})) assert.deepEqual(value, overHttp.body[key], key)

      const changed = await client.updateNamespace({
        namespace: name,
        description: '',
        policy: { scheduleToClose: { max: '3600s' } },
        searchAttributes: { City: 'Keyword' },
        removedSearchAttributes: ['Amount'],
        inherit: ['retention', 'retry.maxInterval', 'allowedAddresses', 'signing'],
      })
      assert.deepEqual([...changed.overrides].sort(), ['requestTimeout', 'scheduleToClose.max'])
      assert.deepEqual(
        [changed.description, changed.signing?.secretCount, changed.searchAttributes],
        ['', 0, { Team: 'Keyword', City: 'Keyword' }],
      )
      // What may be null by itself is given back as well.
      const bare = await client.updateNamespace({ namespace: name, inherit: ['scheduleToClose.max', 'requestTimeout'] })
      assert.deepEqual(bare.overrides, [])
      const secrets = [signingSecret(1), signingSecret(2)]
      const signed = await client.updateNamespace({ namespace: name, signing: { secrets } })
      assert.equal(signed.signing?.secretCount, 2)
      const unsigned = await client.updateNamespace({ namespace: name, signing: { clear: true } })
      assert.deepEqual([unsigned.signing?.secretCount, unsigned.overrides], [0, ['signing']])
      const names: string[] = []
      let nextPageToken = new Uint8Array(0)
      do {
        const page = await client.listNamespaces({ pageSize: 1, nextPageToken })
        names.push(...page.namespaces.map((one) => one.name))
        nextPageToken = page.nextPageToken as Uint8Array<ArrayBuffer>
      } while (nextPageToken.length > 0)
      assert.deepEqual(names, ['default', name])
      await client.deleteNamespace({ namespace: name })
      await assert.rejects(client.getNamespace({ namespace: name }), { code: Code.NotFound })
    }
  })

  test('namespaces refuse what cannot be', async () => {
    const [transport] = Object.values(transports()) as [Transport]
    const client = over(transport)
    await client.createNamespace({ name: 'refusing' })
    const namespace = 'refusing'
    for (const [call, code] of [
      [() => client.createNamespace({ name: 'refusing' }), Code.AlreadyExists],
      [() => client.createNamespace({ name: 'a b' }), Code.InvalidArgument],
      [() => client.createNamespace({ name: 'x', policy: { retention: '7d' } }), Code.InvalidArgument],
      [() => client.createNamespace({ name: 'x', policy: { nothing: 1 } }), Code.InvalidArgument],
      [() => client.createNamespace({ name: 'x', retention: { seconds: 1n } }), Code.InvalidArgument],
      [() => client.updateNamespace({ namespace, inherit: ['nothing'] }), Code.InvalidArgument],
      [() => client.updateNamespace({ namespace, signing: { clear: true, inherit: true } }), Code.InvalidArgument],
      [
        () => client.updateNamespace({ namespace, signing: { clear: true, add: signingSecret(1) } }),
        Code.InvalidArgument,
      ],
      [
        () => client.updateNamespace({ namespace, searchAttributes: { A: 'Keyword' }, removedSearchAttributes: ['A'] }),
        Code.InvalidArgument,
      ],
      [() => client.listNamespaces({ nextPageToken: Buffer.from('nonsense') }), Code.InvalidArgument],
      [() => client.deleteNamespace({ namespace: 'nowhere' }), Code.NotFound],
    ] as const) {
      await assert.rejects(call(), { code })
    }
  })
})
