import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { SystemClock } from '../../../src/platform/clock/clock.ts'
import { closeGracefully } from '../../../src/platform/http/connection/listen.ts'
import { startPlatform } from './platform-server.ts'

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

/** Routes that are answered at once, some time later, and when the test says so. */
function routes() {
  const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const asked: string[] = []
  const register = (server: FastifyInstance) => {
    server.get('/at-once/:name', (request, reply) => {
      asked.push((request.params as { name: string }).name)
      reply.send('at once')
    })
    server.get('/later', async () => {
      await setTimeout(20)
      return 'later'
    })
    server.get('/waiting', async () => {
      begun.resolve()
      await release.promise
      return 'waited'
    })
  }
  return { register, asked, begun: begun.promise, release: () => release.resolve() }
}

/** Everything that comes until the connection ends, however it does. */
function listenTo(socket: Socket) {
  let text = ''
  const { promise, resolve } = Promise.withResolvers<string>()
  socket.setEncoding('latin1')
  socket.on('data', (piece) => {
    text += piece
  })
  socket.on('error', () => {})
  socket.on('close', () => resolve(text))
  return promise
}

/** What came, in order: the status of each answer, and whether it ends the connection. */
function answersIn(text: string): string[] {
  const heads = text.split(/(?=HTTP\/1\.1 )/).filter((part) => part !== '')
  return heads.map((head) => `${head.slice(9, 12)}${/^connection: close\r?$/im.test(head) ? ' close' : ''}`)
}

const close = (server: FastifyInstance, graceMs = 10_000) => closeGracefully(server, new SystemClock(), graceMs)

test('a request that has arrived on a kept-alive connection when the server stops is answered', async () => {
  const { register, asked } = routes()
  await using platform = await startPlatform({ routes: register })
  const sockets = Array.from({ length: 20 }, () => connect(platform.port, '127.0.0.1'))
  const received = sockets.map(listenTo)
  for (const socket of sockets) {
    socket.write(get('/at-once/first'))
    await once(socket, 'data')
  }
  // Sent before the server could look at any of them.
  for (const socket of sockets) socket.write(get('/at-once/just-sent'))
  assert.equal(await close(platform.server), true)
  for (const text of await Promise.all(received)) assert.deepEqual(answersIn(text), ['200', '200 close'])
  assert.equal(asked.length, 40)
})

test('requests behind one that is being answered when the server stops are answered, too, and the last one ends the connection', async () => {
  const { register, begun, release } = routes()
  await using platform = await startPlatform({ routes: register })
  const socket = connect(platform.port, '127.0.0.1')
  const received = listenTo(socket)
  socket.write(get('/waiting') + get('/at-once/second') + get('/nothing'))
  await begun
  const closed = close(platform.server)
  while (platform.server.server.listening) await nextTurn()
  release()
  assert.deepEqual(answersIn(await received), ['200', '200', '404 close'])
  assert.equal(await closed, true)
})

test('whoever sends another request for each answer does not keep a server that stops', async () => {
  const { register, begun, release } = routes()
  await using platform = await startPlatform({ routes: register })
  const socket = connect(platform.port, '127.0.0.1')
  const received = listenTo(socket)
  socket.write(get('/waiting') + get('/later').repeat(4))
  await begun
  const closed = close(platform.server, 3_000)
  while (platform.server.server.listening) await nextTurn()
  socket.on('data', (text: string) => socket.write(get('/later').repeat(answersIn(text).length)))
  release()
  assert.deepEqual(answersIn(await received), ['200', '200', '200', '200', '200 close'])
  assert.equal(await closed, true)
})

test('requests that arrive together while the server stops are answered, all of them', async () => {
  const { register, begun, release } = routes()
  await using platform = await startPlatform({ routes: register })
  const [idle, waiting] = [connect(platform.port, '127.0.0.1'), connect(platform.port, '127.0.0.1')]
  const received = [listenTo(idle), listenTo(waiting)]
  idle.write(get('/livez'))
  await once(idle, 'data')
  waiting.write(get('/waiting'))
  await begun
  idle.write(get('/at-once/a') + get('/livez') + get('/at-once/b'))
  const closed = close(platform.server)
  waiting.write(get('/at-once/c') + get('/at-once/d'))
  await once(idle, 'close')
  release()
  const [first = '', second = ''] = await Promise.all(received)
  assert.deepEqual(answersIn(first), ['200', '200', '200', '200 close'])
  assert.deepEqual(answersIn(second), ['200', '200', '200 close'])
  assert.equal(await closed, true)
})
