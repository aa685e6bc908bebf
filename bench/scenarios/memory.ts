import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { benchDirectory } from '../bench-directory.ts'
import type { Scenario } from '../scenario.ts'
import { startProduct } from '../server-process.ts'

const IDLE_MS = 5_000

export const scenario: Scenario = {
  description: `resident memory of an idle server, ${IDLE_MS / 1000} s after it listens`,
  async run() {
    const dataDir = benchDirectory()
    const server = await startProduct(dataDir)
    const atStart = residentMegabytes(server.child.pid as number)
    await sleep(IDLE_MS)
    const idle = residentMegabytes(server.child.pid as number)
    await server.stop()
    return {
      columns: ['moment', 'MB'],
      rows: [
        ['listening', atStart],
        ['idle', idle],
      ],
      targets: [{ name: 'idle memory', value: idle, unit: 'MB', below: 150 }],
    }
  },
}

/** In units of a million bytes, as `ps` sees it on Linux and macOS alike. */
function residentMegabytes(pid: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return (Number(stdout) * 1024) / 1e6
}
