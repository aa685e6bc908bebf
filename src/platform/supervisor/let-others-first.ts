import { getPriority, setPriority } from 'node:os'

const NICENESS = 5
const NICEST = 19

/**
 * What this thread does is less urgent than what the server answers, however nice the server itself was started to be: a service beside
 * more important ones is nicer than this, and nobody but root gets back. A thread that asked for it ended there.
 *
 * NOTE Of this thread alone, which only Linux can do: elsewhere it would be the whole server's.
 */
export function letOthersFirst(): void {
  if (process.platform === 'linux') setPriority(Math.min(getPriority() + NICENESS, NICEST))
}
