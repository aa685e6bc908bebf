// Makes a fresh clone ready to run: the packages of the lock file, and a Node that is new enough. No dependencies, and
// nothing newer than Node 20, because this is what runs before anything is there. A second run only compares a stamp.
//
//   const { node } = await ensureSetup()     // a Node >= engines.node, to run the sources with
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withLock } from './setup-lock.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP']
const PROGRESS_EVERY_MS = 10_000
// The fallback where npm has no ready-made Node package for the platform among our optional dependencies.
const NODE_PACKAGE = 'node@24'
// What a system says of a place where this user must not write, or nobody can.
const REFUSED = new Set(['EACCES', 'EPERM', 'EROFS'])

/** A problem that is not ours to show a stack for: one sentence, and what to do. */
export class SetupError extends Error {}

/**
 * @param {{ dev?: boolean, root?: string, log?: (line: string) => void }} [options]
 *   dev: insists on what only tests and builds need. Without it they are installed along with the rest, unless
 *   NODE_ENV is production, but nothing is installed for their sake.
 * @returns {Promise<{ node: string }>}
 */
export async function ensureSetup(options = {}) {
  const { root = ROOT, log = say } = options
  const wanted = describe(root, options.dev ?? false)
  if (!isReady(root, wanted)) {
    try {
      await withLock(join(root, '.cache', 'setup.lock'), log, async (share) => {
        // Whoever had the lock before us may have done it all.
        if (!isReady(root, wanted)) await makeReady(root, wanted, { log, share })
      })
    } catch (error) {
      if (!REFUSED.has(error.code)) throw error
      // A read-only installation that is complete runs as well.
      if (!isComplete(root, wanted)) throw refused(root, error)
    }
  }
  return { node: isNewEnough(process.versions.node, root) ? process.execPath : join(root, wanted.node) }
}

/** Whether a Node version satisfies `engines.node`, which must have the form ">=24.12". */
export function isNewEnough(version, root = ROOT) {
  const minimum = /^>=(\d+)(?:\.(\d+))?/.exec(readPackage(root).engines.node)
  const [major, minor] = version.split('.').map(Number)
  const [needMajor, needMinor] = [Number(minimum?.[1]), Number(minimum?.[2] ?? 0)]
  return major > needMajor || (major === needMajor && minor >= needMinor)
}

function describe(root, dev) {
  const lockFile = readFileSync(join(root, 'package-lock.json'))
  return {
    lock: createHash('sha256').update(lockFile).digest('hex'),
    platform: `${process.platform}-${process.arch}`,
    dev,
    node:
      process.platform === 'win32'
        ? join('node_modules', `node-win-${process.arch}`, 'bin', 'node.exe')
        : join('node_modules', '.bin', 'node'),
  }
}

function isReady(root, wanted) {
  const stamp = readJson(stampFile(root))
  if (stamp?.lock !== wanted.lock || stamp.platform !== wanted.platform) return false
  if (wanted.dev && !stamp.dev) return false
  return isNewEnough(process.versions.node, root) || existsSync(join(root, wanted.node))
}

async function makeReady(root, wanted, job) {
  // NOTE The stamp goes first and comes last: an install that is interrupted in between is done again.
  const hadDev = readJson(stampFile(root))?.dev === true
  rmSync(stampFile(root), { force: true })
  let dev = wanted.dev || hadDev
  if (!isInstalled(root, dev)) {
    dev ||= process.env.NODE_ENV !== 'production'
    await install(root, dev, job)
  }
  if (!isNewEnough(process.versions.node, root)) await ensureNode(root, wanted, job)
  try {
    writeFileSync(stampFile(root), `${JSON.stringify({ lock: wanted.lock, platform: wanted.platform, dev })}\n`)
  } catch {
    // All is there; it is only looked at more closely each time.
  }
}

function isComplete(root, wanted) {
  return (
    isInstalled(root, wanted.dev) && (isNewEnough(process.versions.node, root) || runs(join(root, wanted.node), root))
  )
}

function refused(root, { code, path }) {
  return new SetupError(
    `Set-up cannot write ${path ?? root} (${code}): run "./bin/commonplace.mjs --version" in ${root} as somebody who may, ` +
      'then the same command again.',
  )
}

/** Installed by hand already? npm writes its own list of what is there as the last step of an install. */
function isInstalled(root, dev) {
  const present = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages
  if (present === undefined) return false
  const locked = readJson(join(root, 'package-lock.json')).packages
  return Object.entries(locked).every(([path, entry]) => {
    if (path === '' || (!dev && (entry.dev || entry.devOptional))) return true
    // What only packages of other platforms need has no platform of its own, and npm leaves it out with them.
    if (present[path] === undefined) return entry.optional === true && !(hasPlatform(entry) && isForThisPlatform(entry))
    return present[path].version === entry.version && existsSync(join(root, path, 'package.json'))
  })
}

function hasPlatform({ os, cpu }) {
  return os !== undefined || cpu !== undefined
}

function isForThisPlatform({ os, cpu, libc }) {
  // Which C library this is cannot be told cheaply; a package that asks for one may be missing.
  return (!os || os.includes(process.platform)) && (!cpu || cpu.includes(process.arch)) && !libc
}

async function install(root, dev, job) {
  job.log('installing dependencies (only the first time, and when they changed)')
  const which = ['--include=prod', '--include=optional', dev ? '--include=dev' : '--omit=dev']
  // Install scripts stay off: nothing we use needs one, and most attacks through packages do.
  await npm(root, ['ci', '--ignore-scripts', ...which, '--no-audit', '--no-fund', '--loglevel=error'], job)
}

async function ensureNode(root, wanted, job) {
  const local = join(root, wanted.node)
  if (runs(local, root)) return
  const home = join(root, '.cache', 'node')
  const fetched = join(home, wanted.node)
  if (!runs(fetched, root)) {
    job.log(
      `bringing Node 24, because this is Node ${process.versions.node} and there is no ready-made one for this platform`,
    )
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, 'package.json'), '{ "private": true }\n')
    // This package fetches the right build in its install script, hence the exception.
    const flags = [
      '--no-save',
      '--no-package-lock',
      '--ignore-scripts=false',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ]
    await npm(home, ['install', ...flags, NODE_PACKAGE], job)
  }
  if (!runs(fetched, root)) {
    throw new SetupError(
      `Commonplace needs Node ${readPackage(root).engines.node}, this is ${process.versions.node}, and the one from npm ` +
        'does not run on this machine: install a newer Node from https://nodejs.org and start again.',
    )
  }
  mkdirSync(dirname(local), { recursive: true })
  rmSync(local, { force: true })
  symlinkSync(fetched, local)
}

function runs(node, root) {
  if (!existsSync(node)) return false
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return status === 0 && isNewEnough(stdout.trim().slice(1), root)
}

async function npm(cwd, args, { log, share }) {
  const [file, ...first] = npmCommand()
  const child = spawn(file, [...first, ...args], {
    cwd,
    env: npmEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32' && file === 'npm',
  })
  if (child.pid !== undefined) share(child.pid)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const began = Date.now()
  const progress = setInterval(() => log(`still installing, ${seconds(began)} s`), PROGRESS_EVERY_MS)
  const interrupt = (signal) => {
    child.kill()
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of INTERRUPTS) process.once(signal, interrupt)
  const problem = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.code === 'ENOENT' ? 'npm was not found' : error.message))
    child.once('close', (status) => resolve(status === 0 ? null : `npm ${args[0]} failed`))
  })
  clearInterval(progress)
  for (const signal of INTERRUPTS) process.removeListener(signal, interrupt)
  if (problem === null) return log(`installed in ${seconds(began)} s`)
  const detail = output.trim() === '' ? '' : `\n\n${output.trim()}\n`
  throw new SetupError(
    `Set-up did not finish: ${problem}.${detail}\nCheck that npm works and reaches its registry (network, proxy, disk ` +
      `space, write access to ${cwd}), then run the same command again.`,
  )
}

function npmCommand() {
  // Under "npm start" npm tells where it is; otherwise it is looked for on the path.
  const script = process.env.npm_execpath
  return script?.endsWith('.js') && existsSync(script) ? [process.execPath, script] : ['npm']
}

// npm hands its whole configuration down to scripts as variables; taken over by an npm inside, "npm start --silent" or
// a global prefix would change what gets installed. Only how to reach the registry goes on.
const KEPT_NPM_SETTINGS =
  /^npm_config_(registry|cache|userconfig|globalconfig|(https?_)?proxy|no_?proxy|ca|cafile|strict_ssl|maxsockets|fetch_\w+|offline|prefer_offline|@.*|\/\/.*)$/i

function npmEnvironment() {
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || KEPT_NPM_SETTINGS.test(name))
  return { ...Object.fromEntries(kept), NODE_ENV: '', NODE_OPTIONS: '' }
}

function seconds(began) {
  return Math.round((Date.now() - began) / 1000)
}

function stampFile(root) {
  return join(root, 'node_modules', '.commonplace-setup.json')
}

function readPackage(root) {
  return readJson(join(root, 'package.json'))
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function say(line) {
  process.stderr.write(`commonplace set-up: ${line}\n`)
}
