import { ignoreFailure } from '../platform/errors/ignore-failure.ts'

/** Work that has to be ended in order when somebody interrupts it. After that the process ends as the signal says; a second one ends it at once. */
export async function untilInterrupted(work: Promise<void>, end: () => Promise<void>): Promise<void> {
  const interrupted = Promise.withResolvers<NodeJS.Signals>()
  const stopListening = () => {
    process.removeListener('SIGINT', interrupted.resolve).removeListener('SIGTERM', interrupted.resolve)
  }
  process.once('SIGINT', interrupted.resolve).once('SIGTERM', interrupted.resolve)
  try {
    const signal = await Promise.race([work.then(() => null), interrupted.promise])
    if (signal === null) return
    ignoreFailure(work, 'it was given up')
    stopListening()
    await end()
    process.kill(process.pid, signal)
    await Promise.withResolvers<never>().promise
  } finally {
    stopListening()
  }
}
