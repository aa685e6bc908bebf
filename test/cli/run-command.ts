import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { PROGRAM, YOUNG_MEMORY } from '../support/program.ts'
import { tempDir } from '../support/temp-dir.ts'

export interface CommandResult {
  status: number | null
  /** What ended it, where it did not end by itself. */
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** One command line in a process of its own, as an operator runs it. */
export function runCommand(args: string[], env?: Record<string, string>, cwd?: string): Promise<CommandResult> {
  return startCommand(args, env, cwd).result
}

/** Likewise, and somebody may interrupt it. */
export function startCommand(args: string[], env: Record<string, string> = {}, cwd = tempDir(), program = PROGRAM) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(COMMONPLACE_|NODE_TEST)/.test(name))
  const child = spawn(process.execPath, [...YOUNG_MEMORY, program, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const result: Promise<CommandResult> = Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]).then(([stdout, stderr, [status, signal]]) => ({ status, signal, stdout, stderr }))
  return { result, interrupt: (signal: NodeJS.Signals) => child.kill(signal) }
}
