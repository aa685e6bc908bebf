// A real PostgreSQL for tests. `npm test` starts one for the whole run and passes its URL on; a test file that is run
// alone starts its own when it first needs one. COMMONPLACE_TEST_POSTGRES_URL set by hand means: use that one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { missingPackage } from './postgres-binaries.ts'

export const POSTGRES_URL_VARIABLE = 'COMMONPLACE_TEST_POSTGRES_URL'
export const POSTGRES_UNAVAILABLE_VARIABLE = 'COMMONPLACE_TEST_POSTGRES_UNAVAILABLE'

const KEEPER = fileURLToPath(new URL('postgres-keeper.ts', import.meta.url))

export interface RunningPostgres {
  url: string
  /** Stops the server and removes its files. Happens by itself when this process ends, however it ends. */
  stop(): Promise<void>
}

/** Why suites for PostgreSQL must be skipped, or null. */
export function postgresUnavailable(): string | null {
  if (process.env[POSTGRES_URL_VARIABLE]) return null
  return process.env[POSTGRES_UNAVAILABLE_VARIABLE] || missingPackage()
}

let shared: Promise<string> | undefined

/** The server of this run; databases in it come from `createDatabase`. */
export function postgresUrl(): Promise<string> {
  const given = process.env[POSTGRES_URL_VARIABLE]
  if (given) return Promise.resolve(given)
  shared ??= startPostgres().then(({ url }) => url)
  return shared
}

/** Starts a server of one's own, for a test that stops or kills it. */
export async function startPostgres(): Promise<RunningPostgres> {
  // A session of its own: Ctrl-C reaches only this process, and the keeper learns of it by the end of its input.
  const keeper = spawn(process.execPath, [KEEPER], { stdio: ['pipe', 'pipe', 'ignore'], detached: true })
  const ended = once(keeper, 'exit')
  keeper.stdin.on('error', () => {}) // it ended first
  const lines = createInterface({ input: keeper.stdout })
  const answer: { url?: string; problem?: string } = await Promise.race([
    once(lines, 'line').then(([line]) => JSON.parse(line)),
    ended.then(() => ({ problem: 'its keeper ended without a word' })),
  ])
  if (answer.url === undefined) throw new Error(`PostgreSQL for tests is not available: ${answer.problem}`)
  // Nothing here may hold the test process: when it ends, the keeper does.
  keeper.unref()
  for (const stream of [keeper.stdin, keeper.stdout]) (stream as unknown as { unref(): void }).unref()
  return {
    url: answer.url,
    async stop() {
      keeper.ref()
      keeper.stdin.end()
      await ended
    },
  }
}
