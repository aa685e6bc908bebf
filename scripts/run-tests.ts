// Everything that `npm test` checks: types, format and lint, all tests. Ends with one line,
// `N passed, N failed`, and status 1 when anything failed. A hang is a failure, never a wait.
import { execFile, spawn } from 'node:child_process'
import { globSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify, styleText } from 'node:util'
import { installBrowserIfPossible } from '../test/support/browser.ts'
import {
  POSTGRES_UNAVAILABLE_VARIABLE,
  POSTGRES_URL_VARIABLE,
  postgresUnavailable,
  type RunningPostgres,
  startPostgres,
} from '../test/support/postgres.ts'
import { PROGRAM_VARIABLE } from '../test/support/program.ts'
import { ensureBundle } from './bundle.mjs'
import { makeRunDirectory } from './run-directory.ts'
import { type FileResult, runTestFile } from './run-test-file.ts'
import { ensureTestPackages } from './test-packages.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const TEST_FILES = ['src/**/*.test.ts', 'test/**/*.test.ts']
const CHECKS: [name: string, program: string, args: string[]][] = [
  // One checker: more of them look at the same types, each for itself, beside tests that need the processors.
  ['types', 'node_modules/typescript/bin/tsc', ['-p', '.', '--checkers', '1']],
  [
    'format and lint',
    'node_modules/@biomejs/biome/bin/biome',
    ['check', '--diagnostic-level=warn', '--error-on-warnings'],
  ],
]
// test-preload.mjs knows their names.
const PACKAGES_VARIABLE = 'COMMONPLACE_TEST_PACKAGES'
const SOURCES_VARIABLE = 'COMMONPLACE_TEST_SOURCES'
const DEADLINE_MS = 19.5 * 60_000

interface Totals {
  passed: number
  failed: number
  skipped: number
  skipReasons: Set<string>
  failedNames: string[]
}

process.chdir(ROOT)
await main(process.argv.slice(2))

async function main(args: string[]): Promise<void> {
  const totals: Totals = { passed: 0, failed: 0, skipped: 0, skipReasons: new Set(), failedNames: [] }
  const stopping = new AbortController()
  const deadline = setTimeout(() => stopping.abort(), DEADLINE_MS)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())
  const files = findFiles(args.filter((arg) => !arg.startsWith('-')))
  installBrowserIfPossible()
  const postgres = startPostgresUnlessGiven()
  const program = ensureBundle()
  // One after the other: both end the one process of esbuild.
  const packages = program.then(ensureTestPackages)
  const sources = keepSources()
  const runDir = makeRunDirectory()
  const env = testEnvironment(runDir, {
    postgres: await postgres,
    program: await program,
    packages: await packages,
    sources: await sources,
  })
  const nodeFlags = args.filter((arg) => arg.startsWith('--test-'))
  try {
    const checks = args.includes('--only-tests') ? [] : CHECKS
    const work = [
      ...checks.map((check) => () => runCheck(check, totals)),
      ...files.map((file) => async () => {
        if (stopping.signal.aborted) return
        report(await runTestFile(file, { env, nodeFlags, signal: stopping.signal }), totals)
      }),
    ]
    // One more than there are processors: some tests wait for time to pass, as callers of a long poll do.
    await inParallel(work, Math.min(Math.max(availableParallelism(), 2) + 1, 8))
  } finally {
    clearTimeout(deadline)
    const running = await postgres
    if ('stop' in running) await running.stop()
    rmSync(runDir, { recursive: true, force: true, maxRetries: 5 })
  }
  if (stopping.signal.aborted) fail(totals, 'the whole run (stopped before its end)')
  if (files.length === 0) fail(totals, `no test files match ${args.join(' ')}`)
  conclude(totals)
}

function findFiles(paths: string[]): string[] {
  const all = globSync(TEST_FILES).sort()
  if (paths.length === 0) return all
  const wanted = paths.map((path) => relative(ROOT, join(ROOT, path)))
  return all.filter((file) => wanted.some((path) => file === path || path === '' || file.startsWith(`${path}/`)))
}

type Postgres = RunningPostgres | { given: true } | { unavailable: string }

async function startPostgresUnlessGiven(): Promise<Postgres> {
  if (process.env[POSTGRES_URL_VARIABLE]) return { given: true }
  const unavailable = postgresUnavailable()
  if (unavailable !== null) return { unavailable }
  return startPostgres().catch((error: Error) => ({ unavailable: error.message.replaceAll('\n', ' ') }))
}

interface Parts {
  postgres: Postgres
  program: string | null
  packages: string | null
  sources: string | null
}

/** The tests' own settings only: what the person at the terminal has set for a server must not reach them. */
function testEnvironment(runDir: string, { postgres, program, packages, sources }: Parts): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_ENV$|NODE_OPTIONS$|FORCE_COLOR$)/i.test(name) && !/^COMMONPLACE_(?!TEST_)/.test(name),
  )
  const env: NodeJS.ProcessEnv = { ...Object.fromEntries(kept), TMPDIR: runDir }
  // Hundreds of processes load the same sources: they need to be compiled once.
  env.NODE_COMPILE_CACHE = join(ROOT, '.cache', 'compile')
  if (program !== null) env[PROGRAM_VARIABLE] = program
  if (packages !== null) env[PACKAGES_VARIABLE] = packages
  if (sources !== null) env[SOURCES_VARIABLE] = sources
  if ('url' in postgres) env[POSTGRES_URL_VARIABLE] = postgres.url
  if ('unavailable' in postgres) env[POSTGRES_UNAVAILABLE_VARIABLE] = postgres.unavailable
  return env
}

/** The directory that test-sources.mjs keeps them in; null where it cannot, and every process does that work itself. */
function keepSources(): Promise<string | null> {
  const args = ['--disable-warning=ExperimentalWarning', join(ROOT, 'scripts', 'test-sources.mjs')]
  return promisify(execFile)(process.execPath, args).then(
    ({ stdout }) => stdout,
    (error: Error) => {
      process.stderr.write(`Each test file takes its types off by itself, which takes longer: ${error.message}\n`)
      return null
    },
  )
}

async function runCheck([name, program, args]: (typeof CHECKS)[number], totals: Totals): Promise<void> {
  const began = performance.now()
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const status = await new Promise((resolve) => child.once('close', resolve).once('error', resolve))
  const took = duration(performance.now() - began)
  if (status === 0) {
    totals.passed++
    console.log(`${styleText('green', '✔')} ${name} (${took})`)
    return
  }
  console.log(`${styleText('red', '✖')} ${name} (${took})\n${output.trim()}\n`)
  fail(totals, name)
}

async function inParallel(work: readonly (() => Promise<void>)[], width: number): Promise<void> {
  const queue = work.values()
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const task of queue) await task()
    }),
  )
}

function report(result: FileResult, totals: Totals): void {
  totals.passed += result.passed
  totals.skipped += result.skipped.length
  for (const reason of result.skipped) totals.skipReasons.add(reason)
  const counts = [`${result.passed} passed`]
  if (result.skipped.length > 0) counts.push(`${result.skipped.length} skipped`)
  if (result.failures.length === 0) {
    console.log(`${styleText('green', '✔')} ${result.file} (${counts.join(', ')}, ${duration(result.ms)})`)
    return
  }
  counts.push(`${result.failures.length} failed`)
  const parts = [`${styleText('red', '✖')} ${result.file} (${counts.join(', ')}, ${duration(result.ms)})`]
  for (const { name, error } of result.failures) parts.push(`  ${styleText('red', '✖')} ${name}`, indent(error))
  if (result.output.trim() !== '') parts.push('  What it printed:', indent(result.output.trim()))
  console.log(`${parts.join('\n')}\n`)
  for (const { name } of result.failures) fail(totals, name === result.file ? name : `${result.file}: ${name}`)
}

function fail(totals: Totals, name: string): void {
  totals.failed++
  totals.failedNames.push(name)
}

function conclude({ passed, failed, skipped, skipReasons, failedNames }: Totals): void {
  if (failed > 0) console.log(`\nFailed:\n${failedNames.map((name) => `  ${name}`).join('\n')}`)
  const reasons = [...skipReasons].filter((reason) => reason !== 'true').join('; ')
  const skips =
    skipped === 0 ? '' : `, ${skipped} skipped${reasons === '' ? '' : ` (${reasons.replaceAll('\n', ' ')})`}`
  console.log(`\n${passed} passed, ${failed} failed${skips}`)
  process.exitCode = failed > 0 ? 1 : 0
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
