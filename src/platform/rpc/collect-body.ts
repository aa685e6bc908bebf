import { Code, ConnectError } from '@connectrpc/connect'
import type { Clock } from '../clock/clock.ts'

// Large enough that a message of the greatest size arrives in some dozens of blocks: decoding takes time in the square
// of their number, which a caller who sends single bytes must not be able to use.
const BLOCK_BYTES = 64 * 1024

/** The same bytes in blocks, or DEADLINE_EXCEEDED when they are not all there within the time (0: no limit). */
export async function* collectBody(
  body: AsyncIterable<Uint8Array>,
  clock: Clock,
  withinMs: number,
): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  let giveUp: ((error: ConnectError) => void) | undefined
  let isLate = false
  const onLate = () => {
    isLate = true
    giveUp?.(tooSlow())
  }
  const cancel = withinMs > 0 ? clock.after(withinMs, onLate) : undefined
  try {
    let block: Uint8Array[] = []
    let size = 0
    for (;;) {
      if (isLate) throw tooSlow()
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        giveUp = reject
        chunks.next().then(resolve, reject)
      })
      if (next.done === true) break
      block.push(next.value)
      size += next.value.byteLength
      if (size < BLOCK_BYTES) continue
      yield Buffer.concat(block)
      block = []
      size = 0
    }
    if (size > 0) yield Buffer.concat(block)
  } finally {
    cancel?.()
    // Not awaited: it would wait for the chunk that does not come.
    chunks.return?.().catch(() => undefined)
  }
}

function tooSlow(): ConnectError {
  return new ConnectError('The request did not arrive in time.', Code.DeadlineExceeded)
}
