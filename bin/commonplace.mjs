#!/usr/bin/env node
// The command line. Starts under any Node >= 20 and goes on under one that can run the server: this process if it is
// new enough, else a child under the Node that npm installed with us, with the same streams, signals and exit status.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { constants } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const HERE = fileURLToPath(import.meta.url)
const ROOT = dirname(dirname(HERE))
// Set for the child only, and taken away before the program looks at its environment.
const CHILD_MARK = 'COMMONPLACE_BIN_CHILD'
const PARENT_PIPE = 3
const FORWARDED = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']

const isChild = process.env[CHILD_MARK] === '1'
delete process.env[CHILD_MARK]

const isClone = !HERE.includes(`${sep}node_modules${sep}`) && existsSync(join(ROOT, 'src', 'main.ts'))

if (isClone && !isChild) await setUp()
if (isNewEnough(process.versions.node)) {
  const program = await findProgram()
  if (isChild) endWithParent()
  // Halves the work of a start: types are stripped and code is compiled once. Where it cannot write, nothing changes.
  module.enableCompileCache?.(join(ROOT, '.cache', 'compile'))
  await import(pathToFileURL(program).href)
} else {
  goOnUnder(isChild ? null : findNode())
}

/** A package brings the bundle, since Node strips no types inside node_modules; a clone makes it from its sources. */
async function findProgram() {
  const bundle = join(ROOT, 'dist', 'commonplace.mjs')
  if (isClone) {
    const { ensureBundle } = await import('../scripts/bundle.mjs')
    return (await ensureBundle()) ?? join(ROOT, 'src', 'main.ts')
  }
  if (!existsSync(bundle)) fail('This installation is incomplete (no program found): install commonplace again.')
  return bundle
}

async function setUp() {
  const { ensureSetup, SetupError } = await import('../scripts/setup.mjs')
  try {
    await ensureSetup()
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    fail(error.message)
  }
}

function isNewEnough(version) {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const [needMajor, needMinor = 0] = engines.node.replace('>=', '').split('.').map(Number)
  const [major, minor] = version.split('.').map(Number)
  return major > needMajor || (major === needMajor && minor >= needMinor)
}

/** Ours, or the one that npm placed further up when we are a dependency of another package. */
function findNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  try {
    const description = createRequire(HERE).resolve(`node-${platform}-${process.arch}/package.json`)
    const { version, bin } = JSON.parse(readFileSync(description, 'utf8'))
    if (isNewEnough(version)) return join(dirname(description), bin.node)
  } catch {
    // No such package for this platform; set-up may have brought Node another way.
  }
  for (let at = ROOT; ; at = dirname(at)) {
    const candidate = join(at, 'node_modules', '.bin', 'node')
    if (existsSync(candidate)) return candidate
    if (at === dirname(at)) return null
  }
}

function goOnUnder(node) {
  if (node === null) {
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    fail(
      `Commonplace needs Node ${engines.node}, this is ${process.versions.node}, and no newer one came with it: ` +
        'install a newer Node from https://nodejs.org, or install commonplace again without --omit=optional.',
    )
  }
  // The fourth stream carries nothing. It breaks when this process dies, even by SIGKILL, and the child notices.
  const child = spawn(node, [...process.execArgv, HERE, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, [CHILD_MARK]: '1' },
  })
  const forward = (signal) => child.kill(signal)
  for (const signal of FORWARDED) process.on(signal, forward)
  child.once('error', (error) =>
    fail(`Node at ${node} could not be started (${error.message}): install commonplace again.`),
  )
  child.once('exit', (status, signal) => {
    if (signal === null) process.exit(status)
    // Die of the same signal, so that the caller sees what happened; the number is for where that is not possible.
    for (const name of FORWARDED) process.removeListener(name, forward)
    process.exitCode = 128 + constants.signals[signal]
    process.kill(process.pid, signal)
  })
}

function endWithParent() {
  const pipe = new Socket({ fd: PARENT_PIPE, readable: true, writable: false })
  pipe.on('error', () => {})
  pipe.once('close', () => process.kill(process.pid, 'SIGTERM'))
  pipe.resume().unref()
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}
