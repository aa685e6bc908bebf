import { Command, CommanderError } from 'commander'
import { SettingsError } from '../platform/config/settings-error.ts'
import { isAppError } from '../platform/errors/app-error.ts'
import { VERSION } from '../version.ts'
import { backupCommand } from './backup.ts'
import { configCommand } from './config.ts'
import { doctorCommand } from './doctor.ts'
import { jobCommand } from './job.ts'
import { migrateCommand } from './migrate.ts'
import { namespaceCommand } from './namespace.ts'
import { projectCommand } from './project.ts'
import { reindexCommand } from './reindex.ts'
import { restoreCommand } from './restore.ts'
import { devCommand, serveCommand } from './serve.ts'
import { tokenCommand } from './token.ts'
import { userCommand } from './user.ts'

const EXIT = { ok: 0, failed: 1, badUsage: 2 } as const

/** Runs one command line and answers the exit status: 0 done, 1 failed, 2 bad usage or settings. */
export async function runCli(argv: readonly string[]): Promise<number> {
  survivePipe(process.stdout, onAnswerLost)
  survivePipe(process.stderr, onComplaintLost)
  const program = createProgram()
  try {
    await program.parseAsync(withoutVainHelp(program, helpAsFlag(argv)), { from: 'user' })
    return typeof process.exitCode === 'number' ? process.exitCode : EXIT.ok
  } catch (error) {
    return report(error)
  }
}

function createProgram(): Command {
  const program = new Command('commonplace')
    .description('The server a community or company runs for what it knows.')
    .version(VERSION, '-V, --version', 'print the version')
    .showHelpAfterError('(add --help for the options)')
    .showSuggestionAfterError()
  for (const command of [
    devCommand(),
    serveCommand(),
    migrateCommand(),
    configCommand(),
    userCommand(),
    tokenCommand(),
    projectCommand(),
    reindexCommand(),
    namespaceCommand(),
    jobCommand(),
    backupCommand(),
    restoreCommand(),
    doctorCommand(),
  ]) {
    program.addCommand(command)
  }
  throwInsteadOfExit(program)
  return program
}

// Commander would call process.exit in the middle of whatever is being written.
function throwInsteadOfExit(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) throwInsteadOfExit(child)
}

/** Commander's `help user create` would tell of `user` alone. */
function helpAsFlag(argv: readonly string[]): readonly string[] {
  return argv[0] === 'help' && argv.length > 1 ? [...argv.slice(1), '--help'] : argv
}

/** Commander would answer `commonplace nonsense --help` with the general help, as if there were such a command. */
function withoutVainHelp(program: Command, argv: readonly string[]): readonly string[] {
  let command: Command | undefined = program
  for (const name of argv) {
    if (name.startsWith('-') || name === 'help' || command.commands.length === 0) return argv
    command = command.commands.find((child) => child.name() === name)
    if (command === undefined) return argv.filter((text) => text !== '--help' && text !== '-h')
  }
  return argv
}

/** Whoever reads our answer may have enough of it, as `head -1` has: that is no failure. */
function survivePipe(stream: NodeJS.WriteStream, onError: (error: NodeJS.ErrnoException) => void): void {
  if (!stream.listeners('error').includes(onError)) stream.on('error', onError)
}

function onAnswerLost(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return
  process.exitCode = EXIT.failed
  process.stderr.write(`commonplace: The answer could not be written (${error.message})\n`)
}

/** Said to nobody: a disk that is full for the answer is so for the complaint beside it, which would fail again, for ever. */
function onComplaintLost(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') process.exitCode = EXIT.failed
}

function report(error: unknown): number {
  // Commander has already written its sentence, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.badUsage
  if (error instanceof SettingsError) {
    process.stderr.write(`${error.message}\n`)
    return EXIT.badUsage
  }
  if (isAppError(error)) {
    for (const problem of error.problems) process.stderr.write(`commonplace: ${problem}\n`)
    const { cause } = error
    if (cause instanceof Error && cause.message && !error.message.includes(cause.message)) {
      process.stderr.write(`  cause: ${cause.message}\n`)
    }
    return EXIT.failed
  }
  process.stderr.write(`commonplace: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  return EXIT.failed
}
