import { ignoreFailure } from '../platform/errors/ignore-failure.ts'
import { INTERRUPTS } from '../platform/supervisor/interrupts.ts'

/**
 * Work that has to be ended in order when somebody interrupts it; then the process ends as the signal says. The same signal may come
 * twice, from the terminal and from a parent that passes it on, so that a second one changes nothing: `end` must not take long.
 */
export async function untilInterrupted(work: Promise<void>, end: () => Promise<void>): Promise<void> {
  const interrupted = Promise.withResolvers<NodeJS.Signals>()
  const stopListening = () => {
    for (const signal of INTERRUPTS) process.removeListener(signal, interrupted.resolve)
  }
  for (const signal of INTERRUPTS) process.on(signal, interrupted.resolve)
  try {
    const signal = await Promise.race([work.then(() => null), interrupted.promise])
    if (signal === null) return
    ignoreFailure(work, 'it was given up')
    await end()
    stopListening()
    process.kill(process.pid, signal)
    await Promise.withResolvers<never>().promise
  } finally {
    stopListening()
  }
}
