// Published clients that tests drive the server with. They are far larger than everything else together, so they are no
// dependencies: a test that needs one brings it into `.cache/clients` once, in exactly this version.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withLock } from '../../scripts/setup-lock.mjs'

const CACHE = fileURLToPath(new URL('../../.cache/clients', import.meta.url))
const INSTALL_LIMIT_MS = 4 * 60_000
const FLAGS = [
  '--ignore-scripts',
  '--no-save',
  '--no-package-lock',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-timeout=60000',
]
/** What npm prints when it is the network's fault and nobody's here. */
const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED|E50\d|network)\b/

export type CachedClient = { load(): unknown; nodeModules: string; unavailable: null } | { unavailable: string }

export interface CacheChoice {
  /** Where clients are kept. */
  directory?: string
  /** For npm, such as another registry. */
  env?: Record<string, string>
}

interface Job {
  env: Record<string, string>
  /** Names the process to wait for, should ours be killed. */
  share(pid: number): void
}

/** The package, ready to be loaded; or why it cannot be had, for `skip`. Throws when it is not the network's fault. */
export async function cachedClient(
  name: string,
  version: string,
  { directory = CACHE, env = {} }: CacheChoice = {},
): Promise<CachedClient> {
  const home = join(directory, `${name.replaceAll(/[^\w.-]+/g, '-').replace(/^-/, '')}-${version}`)
  if (!isReady(home, name, version)) {
    const problem = await withLock(
      `${home}.lock`,
      () => {},
      async (share: (pid: number) => void) =>
        // Whoever had the lock before us may have done it.
        isReady(home, name, version) ? null : install(home, `${name}@${version}`, { env, share }),
    )
    if (problem !== null) return { unavailable: `${name} ${version} could not be installed: ${problem}` }
  }
  const load = () => createRequire(join(home, 'package.json'))(name)
  return { load, nodeModules: join(home, 'node_modules'), unavailable: null }
}

function stampFile(home: string): string {
  return join(home, 'complete')
}

function isReady(home: string, name: string, version: string): boolean {
  if (!existsSync(stampFile(home))) return false
  const manifest = join(home, 'node_modules', name, 'package.json')
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version
}

/** Null when it went well, else one line that says why the network is to blame. */
async function install(home: string, what: string, job: Job): Promise<string | null> {
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  // NOTE With a manifest of its own; npm would otherwise walk up and take our package for the place to install into.
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n')
  const { status, output } = await npm(['install', ...FLAGS, '--prefix', home, what], home, job)
  if (status === 0) {
    writeFileSync(stampFile(home), `${what}\n`)
    return null
  }
  rmSync(home, { recursive: true, force: true })
  if (status === 'ENOENT') return 'npm was not found'
  if (status === 'late') return `npm did not end within ${INSTALL_LIMIT_MS / 60_000} minutes`
  const reason = output.split('\n').find((line) => UNREACHABLE.test(line))
  if (reason !== undefined) return reason.replace(/^npm (error|ERR!)\s*/, '').trim()
  throw new Error(`npm could not install ${what}:\n${output}`)
}

async function npm(args: string[], cwd: string, { env, share }: Job) {
  const child = spawn('npm', args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
    timeout: INSTALL_LIMIT_MS,
  })
  if (child.pid !== undefined) share(child.pid)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-20_000)
    })
  }
  const status = await new Promise<number | string>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    child.once('close', (code) => resolve(code ?? 'late'))
  })
  return { status, output }
}
