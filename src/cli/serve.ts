import { Command } from 'commander'
import { type App, startApp } from '../app.ts'
import { holdProcess, SystemClock } from '../platform/clock/clock.ts'
import { SettingsError } from '../platform/config/settings-error.ts'
import { createLogger, type Logger } from '../platform/logging/logger.ts'
import { type LoadedSettings, loadSettings } from '../settings.ts'
import { HangUps } from './hang-ups.ts'
import { flagsOf, withServerFlags } from './settings-options.ts'

export function devCommand(): Command {
  return withServerFlags(new Command('dev'))
    .description('run the server for yourself on this machine: loopback only, no sign-in needed')
    .action((_options, command: Command) => runServer('dev', command))
}

export function serveCommand(): Command {
  return withServerFlags(new Command('serve'))
    .description('run the server in production')
    .action((_options, command: Command) => runServer('serve', command))
}

async function runServer(mode: 'dev' | 'serve', command: Command): Promise<void> {
  // Through the start and the stop, when no socket does it: nothing may end the process before everything is closed.
  const release = holdProcess()
  try {
    await serveUntilStopped(mode, command)
  } finally {
    release()
  }
}

async function serveUntilStopped(mode: 'dev' | 'serve', command: Command): Promise<void> {
  const stop = stopSignal()
  const hangUps = new HangUps()
  const load = () => loadSettings({ mode, ...flagsOf(command) })
  const { settings, sources } = await load()
  const { log_level: level, log_format: format } = settings.telemetry
  const log = createLogger({ level, format })
  dieLoudly(log)
  const app = await startApp({ settings, sources, mode, log, clock: new SystemClock() })
  process.stdout.write(
    `commonplace is listening on ${app.url} (gRPC on ${app.grpcAddress})\n${setupLine(app.setupLink)}`,
  )
  hangUps.onReload(() => reload(app, load, log))
  const reason = await Promise.race([stop, hangUps.terminalGone])
  log.info(`${reason}: finishing what is in flight`)
  const finished = await app.stop()
  log.info(finished ? 'stopped' : 'stopped; some requests did not finish within server.shutdown_timeout')
  // NOTE Only here, after everything was closed: nothing that is still open may keep the process alive.
  exitOnceWritten(log, 0)
}

/** A file that is wrong changes nothing: the server goes on with the settings that it has. */
async function reload(app: App, load: () => Promise<LoadedSettings>, log: Logger): Promise<void> {
  try {
    const waiting = await app.reload(await load())
    if (waiting.length > 0)
      log.warn({ sections: waiting }, 'settings outside `instance` changed: they hold after a restart')
    log.info('the settings were read again')
  } catch (error) {
    const problem = error instanceof SettingsError ? { problem: error.message } : { err: error }
    log.error(problem, 'the settings could not be read again: the old ones stay in effect')
  }
}

// npm passes Ctrl-C on to a process that the terminal has told already: one wish, two signals.
const SAME_WISH_MS = 1_000

/** The link is a secret: for whoever looks at the terminal, not for the log. */
function setupLine(link: string | null): string {
  return link === null ? '' : `choose a password for the first administrator within 24 hours: ${link}\n`
}

/** Listening begins before the start, so that a signal during a long migration is not lost. */
function stopSignal(): Promise<NodeJS.Signals> {
  const clock = new SystemClock()
  let askedAtMs: number | undefined
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        // A second one is from somebody who no longer wants to wait.
        if (askedAtMs !== undefined && clock.elapsedMs() - askedAtMs > SAME_WISH_MS) process.exit(1)
        askedAtMs ??= clock.elapsedMs()
        resolve(signal)
      })
    }
  })
}

// NOTE Whoever read our output may be gone. Then a write that is under way has to fail first: at exit the logger tries
// a broken pipe for ever. And what can never be written must not hold the process.
const LAST_WRITE_MS = 50
const LAST_WORDS_MS = 1_000

function exitOnceWritten(log: Logger, status: number): void {
  const clock = new SystemClock()
  const exit = () => process.exit(status)
  holdProcess()
  clock.after(LAST_WORDS_MS, exit)
  log.flush(() => clock.after(LAST_WRITE_MS, exit))
}

function dieLoudly(log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, `the process ends: ${event}`)
      exitOnceWritten(log, 1)
    })
  }
}
