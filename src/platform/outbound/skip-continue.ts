import type { Socket } from 'node:net'

const CONTINUE = [Buffer.from('HTTP/1.1 100'), Buffer.from('HTTP/1.0 100')]
const STATUS_BYTES = 12
const CLASS_AT = 9
const ONE = 0x31
const MAX_HEAD_BYTES = 16 * 1024

/**
 * Takes unasked-for `100 Continue` answers out of what is read from an HTTP/1.1 socket. undici skips every other interim
 * answer, but breaks off at this one. A socket holds one exchange at a time, so an answer begins with the
 * first bytes after a write.
 */
export function skipContinue(socket: Socket): void {
  const { read, write } = socket
  let isAtStart = false
  let held: Buffer | undefined

  socket.write = function writeRequest(this: Socket, chunk: string | Uint8Array, encoding?: BufferEncoding) {
    isAtStart = true
    return write.call(this, chunk, encoding)
  } as typeof write

  socket.read = function readAnswer(this: Socket, size?: number): Buffer | null {
    const chunk: Buffer | null = read.call(this, size)
    if (!isAtStart || chunk === null || size !== undefined) return chunk
    let answer = held === undefined ? chunk : Buffer.concat([held, chunk])
    held = undefined
    while (mayBeContinue(answer)) {
      const end = answer.length < STATUS_BYTES ? -1 : answer.indexOf('\r\n\r\n')
      if (end < 0 && answer.length < MAX_HEAD_BYTES) {
        held = answer
        return null
      }
      if (end < 0) break
      answer = answer.subarray(end + 4)
    }
    isAtStart = false
    return answer
  }
}

/** Also true for less than a whole status line, even for nothing: what follows decides. */
function mayBeContinue(answer: Buffer): boolean {
  if (answer.length > CLASS_AT && answer[CLASS_AT] !== ONE) return false // nearly always: the answer is final
  const length = Math.min(answer.length, STATUS_BYTES)
  return CONTINUE.some((status) => status.compare(answer, 0, length, 0, length) === 0)
}
