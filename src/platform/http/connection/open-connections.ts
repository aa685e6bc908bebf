import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '../../clock/clock.ts'
import { responseOn } from './response-on.ts'

// Long enough for a request that was sent before the connection was accepted.
const FIRST_BYTE_MS = 500

/**
 * How connections end when the server does. Browsers and load balancers open connections before they have something to ask. Node
 * does not take such a connection for an idle one, so it would hold a stop for as long as requests in flight may. And it ends all
 * that are left alike, while an answer that breaks off knows how to say so.
 */
export function endConnections(server: FastifyInstance, clock: Clock): void {
  const open = new Set<Socket>()
  server.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.addHook('preClose', async () => {
    clock.after(FIRST_BYTE_MS, () => {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    })
    // Idle ones end behind this hook. A request that has arrived there by now is read within one whole turn, and the first may be half over.
    await nextTurn()
    await nextTurn()
  })
  const closeAll = server.server.closeAllConnections.bind(server.server)
  server.server.closeAllConnections = () => {
    for (const socket of open) responseOn(socket)?.destroy()
    closeAll()
  }
}
