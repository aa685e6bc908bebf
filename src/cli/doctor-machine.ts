import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../platform/clock/clock.ts'
import { hostAndPort } from '../platform/http/connection/host-and-port.ts'
import { askReadiness, probePort } from '../platform/http/connection/probe-port.ts'
import type { Settings } from '../settings.ts'
import { FIRST_START_FILE } from '../users/first-start-file.ts'
import { NODE_RANGE } from '../version.ts'
import { type Finding, failed, ok, warning } from './doctor-finding.ts'
import { fileState } from './file-state.ts'
import { formatBytes } from './progress.ts'

const LITTLE_SPACE = 1_000_000_000
const NO_SPACE = 100_000_000
// Earlier than this program was written: such a clock was never set.
const EARLIEST = Date.UTC(2026, 0, 1) * 1_000

export function checkNode(): Finding {
  const version = process.versions.node
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [needMajor = 0, needMinor = 0] = NODE_RANGE.replace(/^>=/, '').split('.').map(Number)
  const isEnough = major > needMajor || (major === needMajor && minor >= needMinor)
  if (isEnough) return ok('node', `Node ${version}`)
  return failed(
    'node',
    `Node ${version} is older than ${NODE_RANGE}`,
    'install Node 24 or start through bin/commonplace.mjs',
  )
}

/** Where its bundle could not be made, as by a user who only reads it, the program runs all the same, and says nothing. */
export function checkProgram(): Finding {
  if (!import.meta.url.endsWith('.ts')) return ok('program', 'it runs from its bundle')
  return warning(
    'program',
    'it runs from its sources, which takes longer to start and more memory',
    'run "./bin/commonplace.mjs --version" as the user who owns the program; remove node_modules before if NODE_ENV was production',
  )
}

export function checkClock(clock: Clock): Finding {
  if (clock.now() >= EARLIEST) return ok('clock', 'the system clock is plausible')
  return failed(
    'clock',
    'the system clock was never set',
    'set the time of this machine; tokens and leases depend on it',
  )
}

export function checkDataDirectory(dataDir: string): Finding[] {
  if (!existsSync(dataDir)) {
    const parent = nearestExisting(dataDir)
    if (isWritable(parent)) return [ok('data directory', `${dataDir} does not exist yet; the first start creates it`)]
    const advice = 'correct its owner or permissions, or set COMMONPLACE_DATA_DIR'
    return [failed('data directory', `${dataDir} does not exist and ${parent} is not writable`, advice)]
  }
  const findings: Finding[] = []
  const stats = statSync(dataDir)
  if (!stats.isDirectory())
    return [failed('data directory', `${dataDir} is no directory`, 'move it away, or set COMMONPLACE_DATA_DIR')]
  if (!isWritable(dataDir)) {
    findings.push(
      failed(
        'data directory',
        `${dataDir} is not writable`,
        'correct its owner or permissions, or set COMMONPLACE_DATA_DIR',
      ),
    )
  } else if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    findings.push(
      warning('data directory', `${dataDir} is open to other users of this machine`, `run: chmod 700 ${dataDir}`),
    )
  } else {
    findings.push(ok('data directory', `${dataDir} is writable`))
  }
  return [...findings, checkSpace(dataDir)]
}

function checkSpace(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const message = `${formatBytes(free)} are free for ${dataDir}`
  if (free < NO_SPACE) return failed('free space', message, 'free some space; writes fail when the disk is full')
  return free < LITTLE_SPACE
    ? warning('free space', message, 'free some space or move the data to a larger disk')
    : ok('free space', message)
}

export function checkSecretsFile(dataDir: string): Finding {
  const file = join(dataDir, FIRST_START_FILE)
  const state = fileState(file)
  if (state === 'missing') return ok('first secrets', 'no file with the secrets of the first start is lying around')
  if (state !== 'there') {
    const message = `nobody can say whether ${file} still holds the first secrets (${state.unreadable})`
    return warning('first secrets', message, 'run this as the user who runs the server')
  }
  return warning(
    'first secrets',
    `${file} still holds the first secrets`,
    'put them in a safe place, then delete the file',
  )
}

export function checkBaseUrl({ base_url: baseUrl }: Settings['server']): Finding {
  if (baseUrl !== null) return ok('base_url', `the server is reached at ${baseUrl}`)
  const message = 'server.base_url is not set, so links name localhost'
  return warning('base_url', message, 'set COMMONPLACE_BASE_URL=https://your.address before using "serve"')
}

/** Free ports, or a server of ours on them. */
export async function checkPorts(server: Settings['server']): Promise<Finding[]> {
  const { host, port, grpc_port, metrics_port } = server
  const { finding: main, isRunning } = await checkMainPort(host, port)
  const others = [
    ['gRPC port', 'server.grpc_port', grpc_port],
    ['metrics port', 'server.metrics_port', metrics_port],
  ] as const
  const findings = [main]
  for (const [check, setting, number] of others) {
    if (!number) continue
    const state = await probePort(host, number)
    if (state === 'in use' && isRunning) findings.push(ok(check, `${number} is in use by the running server`))
    else findings.push(portFinding(check, setting, host, number, state))
  }
  return findings
}

async function checkMainPort(host: string, port: number): Promise<{ finding: Finding; isRunning: boolean }> {
  const state = await probePort(host, port)
  const readiness = state === 'in use' ? await askReadiness(host, port) : null
  if (readiness === null) return { finding: portFinding('port', 'server.port', host, port, state), isRunning: false }
  const finding =
    readiness === 200
      ? ok('port', `a server answers on ${hostAndPort(host, port)} and is ready`)
      : failed(
          'port',
          `the server on ${hostAndPort(host, port)} says it is not ready (status ${readiness})`,
          'read its log; storage may be away',
        )
  return { finding, isRunning: true }
}

function portFinding(
  check: string,
  setting: string,
  host: string,
  port: number,
  state: Awaited<ReturnType<typeof probePort>>,
): Finding {
  const place = hostAndPort(host, port)
  if (state === 'free') return ok(check, port === 0 ? 'any free port will be taken' : `${place} is free`)
  if (state === 'in use') return failed(check, `another program uses ${place}`, `stop it, or set another ${setting}`)
  if (state === 'denied')
    return failed(check, `this user may not listen on ${place}`, `set ${setting} to a number above 1023`)
  return failed(check, `${host} is no address of this machine`, 'correct server.host')
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path))
}
