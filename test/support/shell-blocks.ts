/** Runs the examples of a documentation page as its reader would: in a shell, in order, against a server. */
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestServer } from './start-server.ts'
import { tempDir } from './temp-dir.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TOTP_CODE = fileURLToPath(new URL('print-totp-code.ts', import.meta.url))
const LIMIT_MS = 55_000

export interface Block {
  line: number
  text: string
}

/** Why examples cannot be run here; false when they can. */
export function shellUnavailable(): string | false {
  const missing = ['bash', 'curl'].filter((program) => spawnSync(program, ['--version']).status !== 0)
  return missing.length > 0 && `the examples need ${missing.join(' and ')}`
}

/** The fenced blocks of one language, each with the line that it begins in. */
export function blocksOf(page: string, language: string): Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, fence]) => fence === language)
    .map((match) => ({
      line: text.slice(0, match.index).split('\n').length,
      text: match[2] as string,
    }))
}

/** Takes out lines that a test cannot run. Each pattern must still find something, or it is out of date. */
export function without(blocks: Block[], patterns: readonly RegExp[]): Block[] {
  for (const pattern of patterns) {
    if (!blocks.some(({ text }) => text.split('\n').some((line) => pattern.test(line)))) {
      throw new Error(`No example has a line like ${pattern} any more`)
    }
  }
  const isKept = (line: string) => !patterns.some((pattern) => pattern.test(line))
  return blocks.map(({ line, text }) => ({ line, text: text.split('\n').filter(isKept).join('\n') }))
}

// What a reader does by hand: opens a page in a browser, reads a code from an app.
const BY_HAND = `
open() { curl --silent --show-error --fail --output /dev/null "$1"; }
read() { CODE=$(node "${TOTP_CODE}" "$SECRET"); }
`

export interface ShellResult {
  status: number | null
  output: string
}

/** All blocks in one shell, which ends at the first command that fails and names the block. */
export async function runBlocks(
  page: string,
  blocks: Block[],
  server: TestServer,
  replace: Record<string, string> = {},
): Promise<ShellResult> {
  const script = [
    'set -Eeuo pipefail',
    `trap 'echo "failed: ${page}, the example of line $EXAMPLE" >&2' ERR`,
    BY_HAND,
    ...blocks.map(({ line, text }) => `EXAMPLE=${line}\n${text}`),
  ].join('\n')
  const replaced = Object.entries({ 'http://localhost:4040': server.url, ...replace }).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    script,
  )
  const child = spawn('bash', ['-c', replaced], {
    cwd: readersDirectory(server),
    env: readersEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-1_000_000)
    })
  }
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { status, output }
}

/** Like a clone in which the server was started: the program and the data lie there. */
function readersDirectory({ dataDir }: TestServer): string {
  const directory = tempDir()
  symlinkSync(dataDir, join(directory, 'data'))
  symlinkSync(join(ROOT, 'bin'), join(directory, 'bin'))
  return directory
}

function readersEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(COMMONPLACE_|NODE_TEST)/.test(name))
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  return { ...Object.fromEntries(kept), PATH: path }
}
