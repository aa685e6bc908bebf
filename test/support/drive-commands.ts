import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SOURCE_FLAGS } from './program.ts'

const DRIVER = fileURLToPath(new URL('cli-driver.ts', import.meta.url))

export interface Ended {
  status: number | null
  stdout: string
  stderr: string
}

/** Many commands on this data, one after the other, in one process. */
export function driveCommands(dataDir: string) {
  const child = spawn(process.execPath, [...SOURCE_FLAGS, DRIVER], {
    env: { ...process.env, COMMONPLACE_DATA_DIR: dataDir },
    cwd: dataDir,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async run(args: readonly string[]): Promise<Ended> {
      child.stdin.write(`${JSON.stringify(args)}\n`)
      return JSON.parse((await lines.next()).value as string)
    },
    close: () => child.stdin.end(),
  }
}
