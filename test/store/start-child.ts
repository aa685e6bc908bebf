import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SOURCE_FLAGS } from '../support/program.ts'
import type { ChildTask } from './storage-child.ts'

export interface Child {
  process: ChildProcess
  /** The lines it says, in order. */
  nextLine(): Promise<string>
  /** Ends its standard input, which it waits for. */
  letGo(): void
  ended: Promise<number | null>
}

export function startChild(task: ChildTask): Child {
  const script = fileURLToPath(new URL('storage-child.ts', import.meta.url))
  const child = spawn(process.execPath, [...SOURCE_FLAGS, script, JSON.stringify(task)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  after(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    process: child,
    nextLine: async () => (await lines.next()).value as string,
    letGo: () => child.stdin.end(),
    ended: once(child, 'exit').then(([status]) => status),
  }
}
