import { Code, ConnectError } from '@connectrpc/connect'
import type { Clock } from '../clock/clock.ts'
import { ignoreFailure } from '../errors/ignore-failure.ts'
import { LARGE_BODY_BYTES } from '../memory/body-room.ts'

// Large enough that a message of the greatest size arrives in some dozens of blocks: decoding takes time in the square
// of their number, which a caller who sends single bytes must not be able to use.
const BLOCK_BYTES = 64 * 1024

export interface CollectOptions {
  clock: Clock
  /** 0: no limit. */
  withinMs: number
  /** Waits until there is memory for a body that is large. */
  makeRoom?: () => Promise<void>
}

/** The same bytes in blocks, or DEADLINE_EXCEEDED when they are not all there within the time. */
export async function* collectBody(
  body: AsyncIterable<Uint8Array>,
  { clock, withinMs, makeRoom }: CollectOptions,
): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  let giveUp: ((error: ConnectError) => void) | undefined
  let isLate = false
  const onLate = () => {
    isLate = true
    giveUp?.(tooSlow())
  }
  const inTime = <T>(wait: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      giveUp = reject
      if (isLate) reject(tooSlow())
      else wait().then(resolve, reject)
    })
  const cancel = withinMs > 0 ? clock.after(withinMs, onLate) : undefined
  try {
    let block: Uint8Array[] = []
    let size = 0
    let all = 0
    for (;;) {
      const next = await inTime(() => chunks.next())
      if (next.done === true) break
      block.push(next.value)
      size += next.value.byteLength
      const wasLarge = all > LARGE_BODY_BYTES
      all += next.value.byteLength
      if (makeRoom !== undefined && !wasLarge && all > LARGE_BODY_BYTES) await inTime(makeRoom)
      if (size < BLOCK_BYTES) continue
      yield Buffer.concat(block)
      block = []
      size = 0
    }
    if (size > 0) yield Buffer.concat(block)
  } finally {
    cancel?.()
    // Not awaited: it would wait for the chunk that does not come.
    ignoreFailure(chunks.return?.(), 'nobody reads any further')
  }
}

function tooSlow(): ConnectError {
  return new ConnectError('The request did not arrive in time.', Code.DeadlineExceeded)
}
