// `npm run bench -- <scenario>`: set-up, then the scenario under a Node that runs our sources.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ensureSetup, SetupError } from './setup.mjs'

const RUN = fileURLToPath(new URL('../bench/run.ts', import.meta.url))

try {
  const { node } = await ensureSetup({ dev: true })
  const child = spawn(node, [RUN, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.once('exit', (status) => (process.exitCode = status ?? 1))
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
