import type { ServerResponse } from 'node:http'
import { AppError } from '../../errors/app-error.ts'

/**
 * For who waits long: aborts when the caller has gone. One who has ended its side of the connection has gone as well, as far as anybody
 * can tell; an answer that is ready soon is sent all the same, but nobody is waited for.
 */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  const { socket } = response
  const abort = () => gone.abort()
  if (response.destroyed || socket === null || socket.readableEnded) abort()
  else {
    socket.once('end', abort)
    response.once('close', () => {
      // The connection may go on with other requests.
      socket.off('end', abort)
      abort()
    })
  }
  return gone.signal
}

/**
 * For who works long: aborts when no answer can be sent any more, since one was sent at the deadline or the connection is gone. Who has ended
 * only its own side still gets an answer that is ready soon.
 */
export function closedSignal(response: ServerResponse): AbortSignal {
  const closed = new AbortController()
  const abort = () => closed.abort(callerWentAway())
  if (response.destroyed) abort()
  else response.once('close', abort)
  return closed.signal
}

export function callerWentAway(): AppError {
  return new AppError('canceled', 'The caller went away')
}
