// Runs as a process of its own: starts a PostgreSQL server, prints one line of JSON ({url} or {problem}), and keeps the
// server until its standard input ends. Whoever started it may stop, crash or be killed: the operating system closes
// the pipe in every case, and the keeper stops the server and removes its files. What a killed keeper leaves behind,
// the next one clears away.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { MEMORY, memoryDirectory } from './memory-directory.ts'
import { openTempDir, type PostgresPrograms, preparePrograms } from './postgres-binaries.ts'

const PREFIX = 'commonplace-postgres-'
const SUPERUSER = 'postgres'
// A Unix socket's path may have about 104 bytes on the strictest system.
const LONGEST_SOCKET_DIRECTORY = 80
const START_TRIES = 3
// A whole run needs half a gigabyte.
const ROOM_BYTES = 2 * 2 ** 30
const WAITS_FOR_DISK = process.env.COMMONPLACE_TEST_POSTGRES_FSYNC === 'on'

let server: ChildProcess | undefined
const directories: string[] = []

process.stdin.once('close', cleanUp).resume()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, cleanUp)
await removeLeftovers()
try {
  say({ url: await start() })
} catch (error) {
  say({ problem: (error as Error).message })
  await cleanUp()
}

async function start(): Promise<string> {
  // Not in memory, where the system may run no programs.
  const programs = preparePrograms(makeDirectory(openTempDir()))
  const place = makeDirectory(parentOfData())
  if (programs.owner !== null) chownSync(place, programs.owner.uid, programs.owner.gid)
  const data = join(place, 'data')
  await initialize(programs, data)
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const problem = await launch(programs, data, port, place)
    if (problem === null) return `postgres://${SUPERUSER}@127.0.0.1:${port}/postgres`
    if (attempt >= START_TRIES) throw new Error(`PostgreSQL did not start: ${problem}`)
  }
}

function makeDirectory(parent: string): string {
  const directory = mkdtempSync(join(parent, PREFIX))
  directories.push(directory)
  writeFileSync(join(directory, 'keeper.pid'), String(process.pid))
  chmodSync(directory, 0o711)
  return directory
}

/** In memory where there is room: every test has a database of its own, and to make and remove these takes a disk longer than all else. */
function parentOfData(): string {
  return (WAITS_FOR_DISK ? null : memoryDirectory(ROOM_BYTES)) ?? openTempDir()
}

async function initialize(programs: PostgresPrograms, data: string): Promise<void> {
  // NOTE Language-aware order, as nearly every real installation has it: a query that silently counts on byte order
  // must fail here, not at the operator's.
  const collation = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US']
  const [file, args] = programs.command('initdb', [
    ...['-D', data, '-U', SUPERUSER, '--auth=trust', '--no-sync', '--no-instructions'],
    ...collation,
  ])
  await promisify(execFile)(file, args, programs.options).catch((error) => {
    throw new Error(
      `initdb failed: ${String(error.stderr || error.message)
        .trim()
        .split('\n')
        .at(-1)}`,
    )
  })
}

/** Resolves to null when the server accepts connections, else to what it said last. */
async function launch(programs: PostgresPrograms, data: string, port: number, sockets: string): Promise<string | null> {
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: sockets.length <= LONGEST_SOCKET_DIRECTORY ? sockets : '',
    max_connections: 200,
    shared_buffers: '64MB',
    dynamic_shared_memory_type: 'mmap',
    max_parallel_workers_per_gather: 0,
    jit: 'off',
    wal_level: 'minimal',
    max_wal_senders: 0,
    // Off is honest for every test we can run: what PostgreSQL wrote survives a killed process without fsync, only
    // not a power cut. Commits still wait for that write.
    ...(WAITS_FOR_DISK ? {} : { fsync: 'off', full_page_writes: 'off' }),
  }
  const [file, args] = programs.command('postgres', [
    ...['-D', data],
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ])
  const child = spawn(file, args, { ...programs.options, stdio: ['ignore', 'ignore', 'pipe'] })
  server = child
  let lastLine = ''
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (status) => resolve(lastLine || `it ended with ${status}`))
    // Read to the end of its days: a full pipe would stop the server.
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      lastLine = text.trim().split('\n').at(-1) ?? lastLine
      if (text.includes('ready to accept connections')) resolve(null)
    })
  })
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}

async function cleanUp(): Promise<void> {
  if (server?.pid !== undefined && server.exitCode === null && server.signalCode === null) {
    const ended = once(server, 'exit')
    // Immediate shutdown: nothing in this data directory is wanted any more.
    server.kill('SIGQUIT')
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5_000))])
    server.kill('SIGKILL')
  }
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  process.exit()
}

/** What keepers left that were killed themselves. */
async function removeLeftovers(): Promise<void> {
  const parents = [openTempDir(), MEMORY].filter((parent) => existsSync(parent))
  const paths = parents.flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
  for (const leftover of paths.filter((path) => basename(path).startsWith(PREFIX))) {
    try {
      const keeper = Number(readFileSync(join(leftover, 'keeper.pid'), 'utf8'))
      if (isProcess(keeper, 'cmdline', 'postgres-keeper')) continue
      const pidFile = join(leftover, 'data', 'postmaster.pid')
      const postmaster = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[0]) : 0
      for (let tries = 0; postmaster > 0 && tries < 100 && isProcess(postmaster, 'cwd', leftover); tries++) {
        if (tries === 0) process.kill(postmaster, 'SIGQUIT')
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      rmSync(leftover, { recursive: true, force: true, maxRetries: 5 })
    } catch {
      // Another user's, or one that is just being made: not ours to remove.
    }
  }
}

/** Whether the process lives and is the one we mean: process numbers are used again. */
function isProcess(pid: number, attribute: 'cmdline' | 'cwd', expected: string): boolean {
  try {
    process.kill(pid, 0)
    if (!existsSync('/proc/self')) return true
    const path = `/proc/${pid}/${attribute}`
    return (attribute === 'cwd' ? readlinkSync(path) : readFileSync(path, 'utf8')).includes(expected)
  } catch {
    return false
  }
}

function say(message: { url: string } | { problem: string }): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}
