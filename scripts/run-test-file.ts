import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { YOUNG_MEMORY } from '../test/support/program.ts'

export interface TestFailure {
  name: string
  error: string
}

export interface FileResult {
  file: string
  passed: number
  failures: TestFailure[]
  skipped: string[]
  /** What the file printed, shortened; worth showing when something failed. */
  output: string
  ms: number
}

export interface RunFileOptions {
  env: NodeJS.ProcessEnv
  nodeFlags: string[]
  signal: AbortSignal
}

type Event =
  | { kind: 'passed'; name: string }
  | { kind: 'failed'; name: string; error: string }
  | { kind: 'skipped'; name: string; reason: string }
  | { kind: 'busy' | 'done' }

const REPORTER = fileURLToPath(new URL('test-events.mjs', import.meta.url))
const PRELOAD = new URL('test-preload.mjs', import.meta.url).href
const TEST_TIMEOUT_MS = 60_000
const FILE_TIMEOUT_MS = 6 * 60_000
// After its last test a file has this long to end by itself; one that cannot has left something open. Servers are stopped then, each of
// which may take 20 seconds.
const LINGER_MS = 30_000
const LONGEST_OUTPUT = 20_000

/** Runs one test file in a process group of its own and never waits for it forever. */
export async function runTestFile(file: string, options: RunFileOptions): Promise<FileResult> {
  const began = performance.now()
  const result: FileResult = { file, passed: 0, failures: [], skipped: [], output: '', ms: 0 }
  const flags = [
    ...YOUNG_MEMORY,
    `--import=${PRELOAD}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...options.nodeFlags,
    `--test-reporter=${REPORTER}`,
  ]
  const child = spawn(process.execPath, [...flags, file], {
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const killFor = (reason: string) => {
    result.failures.push({ name: file, error: reason })
    killGroup(child)
  }
  const onAbort = () => killFor('was stopped because the whole run ended before its time')
  options.signal.addEventListener('abort', onAbort, { once: true })
  const slow = setTimeout(() => killFor(`did not end within ${FILE_TIMEOUT_MS / 60_000} minutes`), FILE_TIMEOUT_MS)
  let lingering: NodeJS.Timeout | undefined
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      result.output = (result.output + text).slice(-LONGEST_OUTPUT)
    })
  }
  createInterface({ input: child.stdio[3] as Readable }).on('line', (line) => {
    const event: Event = JSON.parse(line)
    record(result, event)
    if (event.kind === 'busy') clearTimeout(lingering)
    if (event.kind === 'done') {
      lingering = setTimeout(
        () => killFor('left something open: its process did not end after the last test'),
        LINGER_MS,
      )
    }
  })
  const [status, signal] = await ended(child)
  clearTimeout(slow)
  clearTimeout(lingering)
  options.signal.removeEventListener('abort', onAbort)
  killGroup(child) // whatever the file started and forgot
  if (result.failures.length === 0) {
    if (status !== 0)
      result.failures.push({ name: file, error: `its process ended with ${signal ?? `status ${status}`}` })
    else if (result.passed + result.skipped.length === 0) result.failures.push({ name: file, error: 'has no tests' })
  }
  return { ...result, ms: performance.now() - began }
}

function record(result: FileResult, event: Event): void {
  if (event.kind === 'passed') result.passed++
  else if (event.kind === 'skipped') result.skipped.push(event.reason)
  else if (event.kind === 'failed') result.failures.push({ name: event.name, error: event.error })
}

// NOTE 'exit' and not 'close': a grandchild that keeps the streams open must not keep the run waiting. A moment later
// the lines that were still on their way have been read: once more after it, for a runner that had no time to read in that moment.
function ended(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve) => {
    child.once('error', () => resolve([1, null]))
    child.once('close', (status, signal) => resolve([status, signal]))
    const read = (end: [number | null, NodeJS.Signals | null]) => setImmediate(() => resolve(end))
    child.once('exit', (...end) => setTimeout(read, 500, end))
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}
