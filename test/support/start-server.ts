import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Engine } from '../../src/platform/storage/engine.ts'
import { createDatabase } from './postgres-database.ts'
import { PROGRAM, YOUNG_MEMORY } from './program.ts'
import { tempDir } from './temp-dir.ts'

export interface StartServerOptions {
  /** `dev` unless the test is about production. */
  mode?: 'dev' | 'serve'
  /** SQLite unless asked for; PostgreSQL gets a new database with our schema and nothing in it. */
  engine?: Engine
  /** Environment variables, such as `{ COMMONPLACE_CALLBACKS__REQUEST_TIMEOUT: '1s' }`. */
  env?: Record<string, string>
  /** Command-line flags after the mode. */
  args?: string[]
  /** An earlier server's, to start again on its data. */
  dataDir?: string
  databaseUrl?: string
}

export interface Exit {
  status: number | null
  signal: NodeJS.Signals | null
}

export interface TestServer extends AsyncDisposable {
  url: string
  port: number
  grpcUrl: string
  grpcPort: number
  adminToken: string
  apiKey: string
  applicationKey: string
  dataDir: string
  databaseUrl: string | null
  pid: number
  /** Everything it printed so far. */
  output(): string
  /** Settles when it has printed something like this; at once when it has already. */
  says(pattern: RegExp): Promise<void>
  /** Settles when the process has ended, whoever ended it. */
  exited: Promise<Exit>
  /** Asks it to stop and waits; kills it and fails when it does not. */
  stop(signal?: NodeJS.Signals): Promise<Exit>
  /** SIGKILL, as a crash. */
  kill(): Promise<Exit>
}

// The same for every server, so that one that is started again on old data still knows them.
const SECRETS = {
  adminToken: 'test-administrator-token-0123456789abcdef',
  apiKey: '0123456789abcdef0123456789abcdef',
  applicationKey: '0123456789abcdef0123456789abcdef01234567',
}
const END_WITH_PARENT = new URL('end-with-parent.ts', import.meta.url).href
const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 20_000
const LONGEST_OUTPUT = 1_000_000
const LISTENING = /^commonplace is listening on (http:\/\/\S+:(\d+)) \(gRPC on (\S+:(\d+))\)$/m

/** The real server as a process of its own, on free ports. Ends with the test file if the test does not end it. */
export async function startServer(options: StartServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? tempDir()
  const databaseUrl = await chooseDatabase(options)
  const child = spawn(
    process.execPath,
    [...YOUNG_MEMORY, '--import', END_WITH_PARENT, PROGRAM, options.mode ?? 'dev', ...(options.args ?? [])],
    {
      // Not the repository: a settings file there is nobody's business in a test.
      cwd: tempDir(),
      env: { ...cleanEnvironment(), ...serverEnvironment(dataDir, databaseUrl), ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  )
  let output = ''
  const printed = new EventEmitter().setMaxListeners(0)
  const exited: Promise<Exit> = once(child, 'exit').then(([status, signal]) => ({ status, signal }))
  const listening = new Promise<RegExpExecArray>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-LONGEST_OUTPUT)
        printed.emit('text')
        const line = LISTENING.exec(output)
        if (line !== null) resolve(line)
      })
    }
  })
  const line = await startedOrFailed(child, listening, () => output)
  letGo(child)
  const stopWith = (signal: NodeJS.Signals) => end(child, exited, signal, () => output)
  return {
    url: line[1] as string,
    port: Number(line[2]),
    grpcUrl: `http://${line[3]}`,
    grpcPort: Number(line[4]),
    ...SECRETS,
    dataDir,
    databaseUrl,
    pid: child.pid as number,
    output: () => output,
    async says(pattern) {
      while (!pattern.test(output)) await once(printed, 'text')
    },
    exited,
    stop: (signal = 'SIGTERM') => stopWith(signal),
    kill: () => stopWith('SIGKILL'),
    [Symbol.asyncDispose]: async () => void (await stopWith('SIGKILL')),
  }
}

async function chooseDatabase({ engine, databaseUrl }: StartServerOptions): Promise<string | null> {
  if (databaseUrl !== undefined) return databaseUrl
  return engine === 'postgres' ? (await createDatabase({ migrated: true })).url : null
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(COMMONPLACE_|NODE_TEST)/.test(name)))
}

function serverEnvironment(dataDir: string, databaseUrl: string | null): Record<string, string> {
  return {
    COMMONPLACE_HOST: '127.0.0.1',
    COMMONPLACE_PORT: '0',
    COMMONPLACE_GRPC_PORT: '0',
    COMMONPLACE_DATA_DIR: dataDir,
    COMMONPLACE_ADMIN_TOKEN: SECRETS.adminToken,
    COMMONPLACE_API_KEY: SECRETS.apiKey,
    COMMONPLACE_APPLICATION_KEY: SECRETS.applicationKey,
    ...(databaseUrl === null ? {} : { COMMONPLACE_DATABASE_URL: databaseUrl }),
  }
}

async function startedOrFailed<T>(child: ChildProcess, listening: Promise<T>, output: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const problem = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`The server did not listen within ${START_TIMEOUT_MS / 1000} s:\n${output()}`))
    }, START_TIMEOUT_MS)
    // Not when it has ended: what it said last may still be on its way then.
    child.once('close', (status, signal) =>
      reject(new Error(`The server ended with ${signal ?? `status ${status}`} before it listened:\n${output()}`)),
    )
  })
  try {
    return await Promise.race([listening, problem])
  } finally {
    clearTimeout(timer)
    problem.catch(() => {}) // it may end as it likes from now on
  }
}

/** A running server must not hold the test's process: a forgotten one ends with it. */
function letGo(child: ChildProcess): void {
  child.unref()
  for (const stream of child.stdio) (stream as unknown as { unref?(): void } | null)?.unref?.()
}

async function end(
  child: ChildProcess,
  exited: Promise<Exit>,
  signal: NodeJS.Signals,
  output: () => string,
): Promise<Exit> {
  if (child.exitCode !== null || child.signalCode !== null) return exited
  child.ref()
  child.kill(signal)
  let late = false
  const timer = setTimeout(() => {
    late = true
    child.kill('SIGKILL')
  }, STOP_TIMEOUT_MS)
  const exit = await exited
  clearTimeout(timer)
  if (late) throw new Error(`The server did not stop within ${STOP_TIMEOUT_MS / 1000} s after ${signal}:\n${output()}`)
  return exit
}
