import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Of the administrator, where a scenario sets one. */
export const TOKEN = 'bench-administrator-token-0123456789abcdef'

export interface ServerProcess {
  child: ChildProcess
  url: string
  /** From the spawn to the line that says it listens. */
  startMs: number
  stop(): Promise<void>
}

/** The product as an operator runs it, with its defaults; only the ports and the data directory are ours. */
export function startProduct(dataDir: string, env: Record<string, string> = {}): Promise<ServerProcess> {
  return start([`${ROOT}bin/commonplace.mjs`, 'serve'], /listening on (http:\/\/\S+)/, {
    COMMONPLACE_HOST: '127.0.0.1',
    COMMONPLACE_PORT: '0',
    COMMONPLACE_GRPC_PORT: '0',
    COMMONPLACE_DATA_DIR: dataDir,
    ...env,
  })
}

export async function start(
  args: string[],
  listening: RegExp,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('COMMONPLACE_'))
  const began = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = listening.exec(line) ?? []
    if (url === undefined) continue
    const startMs = performance.now() - began
    // Its log goes on; nobody reads it, but the pipe must not fill.
    child.stdout.resume()
    return {
      child,
      url,
      startMs,
      async stop() {
        child.kill('SIGTERM')
        await ended
      },
    }
  }
  throw new Error('The server ended before it listened')
}

/** In units of a million bytes, on Linux. */
export function residentMb({ child }: ServerProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024) / 1e6
}
