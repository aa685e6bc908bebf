import { fileURLToPath } from 'node:url'
import type { Received } from './callback-receiver.ts'
import { start } from './server-process.ts'

const RECEIVER = fileURLToPath(new URL('callback-receiver.ts', import.meta.url))
const LOOK_MS = 20

/** A receiver in a process of its own, and what came there. */
export interface Deliveries {
  url: string
  /** As soon as so many came. */
  until(count: number): Promise<Received>
  /** What came so far; from now on it counts anew. */
  reset(): Promise<Received>
  stop(): Promise<void>
}

export async function startReceiver(): Promise<Deliveries> {
  const { url, stop } = await start([RECEIVER], /receiving at (http:\S+)/)
  const ask = async (method: string) => (await (await fetch(`${url}/count`, { method })).json()) as Received
  return {
    url: `${url}/`,
    async until(count) {
      for (;;) {
        const received = await ask('GET')
        if (received.count >= count) return received
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      }
    },
    reset: () => ask('DELETE'),
    stop,
  }
}
