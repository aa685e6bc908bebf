import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { PROGRAM } from '../support/program.ts'
import { tempDir } from '../support/temp-dir.ts'

export interface CommandResult {
  status: number | null
  stdout: string
  stderr: string
}

/** One command line in a process of its own, as an operator runs it. */
export async function runCommand(
  args: string[],
  env: Record<string, string> = {},
  cwd = tempDir(),
): Promise<CommandResult> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(COMMONPLACE_|NODE_TEST)/.test(name))
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { status, stdout, stderr }
}
