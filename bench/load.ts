import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { PostLoad } from './post-load.ts'

/** GET requests per second, from a process of its own; any error or other status makes the figure worthless. */
export async function loadGet(load: Omit<PostLoad, 'body'>): Promise<number> {
  const autocannon = createRequire(import.meta.url).resolve('autocannon/autocannon.js')
  const headers = Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}=${value}`])
  const stdout = await run([
    autocannon,
    '-c',
    `${load.connections}`,
    '-d',
    `${load.seconds}`,
    '--json',
    ...headers,
    load.url,
  ])
  const result = JSON.parse(stdout) as { requests: { average: number }; errors: number; non2xx: number }
  if (result.errors > 0 || result.non2xx > 0 || result.requests.average === 0) {
    throw new Error(`${load.url} failed under load: ${result.errors} errors, ${result.non2xx} other answers`)
  }
  return result.requests.average
}

/** The same with bodies or paths that differ; every answer must be a success. */
export async function loadPost(load: PostLoad): Promise<number> {
  return Number(await run([fileURLToPath(new URL('post-load.ts', import.meta.url)), JSON.stringify(load)]))
}

async function run(args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 })
  return stdout
}
