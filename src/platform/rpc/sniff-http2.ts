import type { Socket } from 'node:net'
import type { Clock } from '../clock/clock.ts'

// Every HTTP/2 connection without TLS begins with this line. No HTTP/1.1 method shares its first three letters.
const PREFACE = Buffer.from('PRI * HTTP/2.0')
const DECISIVE_BYTES = 3

const ANSWER = 'This port speaks gRPC over HTTP/2 without TLS. Connect, gRPC-Web and REST are on the main port.\n'

/** Calls `onHttp2` with the untouched connection, or says on the connection that this is the wrong port. */
export function sniffHttp2(socket: Socket, clock: Clock, withinMs: number, onHttp2: () => void): void {
  const cancel = clock.after(withinMs, () => socket.destroy())
  socket.once('close', cancel)
  // A peer that hangs up while we look at its first bytes is no event.
  socket.on('error', ignore)
  socket.on('readable', look)

  // Kept here and not put back until it is decided: what is put back is `readable` again at once, without end.
  let start = Buffer.alloc(0)

  function look(): void {
    const more = socket.read() as Buffer | null
    if (more === null) return
    start = Buffer.concat([start, more])
    if (start.length < DECISIVE_BYTES && PREFACE.subarray(0, start.length).equals(start)) return
    cancel()
    socket.off('close', cancel)
    socket.off('readable', look)
    if (PREFACE.subarray(0, DECISIVE_BYTES).equals(start.subarray(0, DECISIVE_BYTES))) {
      socket.off('error', ignore)
      socket.unshift(start)
      onHttp2()
    } else if (/^[A-Z]/.test(start.toString('latin1', 0, 1))) {
      refuse(socket, clock)
    } else {
      socket.destroy()
    }
  }
}

function refuse(socket: Socket, clock: Clock): void {
  const cancel = clock.after(1_000, () => socket.destroy())
  socket.once('close', cancel)
  // Unread bytes would turn our goodbye into a reset.
  socket.resume()
  socket.end(
    'HTTP/1.1 505 HTTP Version Not Supported\r\n' +
      'content-type: text/plain; charset=utf-8\r\n' +
      `content-length: ${Buffer.byteLength(ANSWER)}\r\n` +
      'connection: close\r\n\r\n' +
      ANSWER,
  )
}

function ignore(): void {}
