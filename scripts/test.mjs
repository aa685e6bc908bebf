// `npm test`: set-up, then every check and every test once; see run-tests.ts. Arguments:
//   --only-tests     no type check, no lint
//   path …           only these test files, or the ones in these folders
//   --test-…         handed to Node's test runner, such as --test-name-pattern=…
import { spawn } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ensureSetup, isNewEnough, SetupError } from './setup.mjs'

const PROGRAM = fileURLToPath(new URL('run-tests.ts', import.meta.url))

try {
  const { node } = await ensureSetup({ dev: true })
  if (isNewEnough(process.versions.node)) await import(pathToFileURL(PROGRAM).href)
  else goOnUnder(node)
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.stdout.write('0 passed, 1 failed\n')
  process.exitCode = 1
}

function goOnUnder(node) {
  const child = spawn(node, [PROGRAM, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('exit', (status) => process.exit(status ?? 1))
}
