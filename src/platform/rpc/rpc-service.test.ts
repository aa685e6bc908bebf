import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServerService } from '../../gen/commonplace/server/v1/server_pb.js'
import { rpcService } from './rpc-service.ts'

const getServerInfo = { access: 'public', handler: () => ({}) } as const
const whoAmI = { access: 'signed_in', handler: () => ({}) } as const

test('a service whose methods all say who may call them is accepted', () => {
  const service = rpcService(ServerService, { getServerInfo, whoAmI })
  assert.deepEqual([...service.methods.keys()], ['getServerInfo', 'whoAmI'])
})

test('a method without a declaration keeps the server from starting', () => {
  // @ts-expect-error it does not compile either
  assert.throws(() => rpcService(ServerService, { getServerInfo }), /ServerService\/WhoAmI has no handler/)
})

test('a method that does not say who may call it keeps the server from starting', () => {
  for (const access of [undefined, '', 'everybody', 'constructor']) {
    const methods = { getServerInfo, whoAmI: { access, handler: () => ({}) } }
    // @ts-expect-error it does not compile either
    assert.throws(() => rpcService(ServerService, methods), /ServerService\/WhoAmI does not say who may call it/)
  }
})

test('a declaration for a method that is not in the .proto keeps the server from starting', () => {
  const methods = { getServerInfo, whoAmI, whoAreYou: whoAmI }
  assert.throws(() => rpcService(ServerService, methods), /has no method whoAreYou/)
})
