// A clone in small: our real set-up scripts around a tiny program, and an npm that only pretends, so that set-up can be
// tested without a network and within milliseconds.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tempDir } from '../support/temp-dir.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const COPIED = [
  'scripts/setup.mjs',
  'scripts/setup-lock.mjs',
  'scripts/start.mjs',
  'scripts/bundle.mjs',
  'scripts/bundle-loader.mjs',
  'bin/commonplace.mjs',
]

// Writes down how it was called, waits while a file "hold" is there, fails while a file "fail" is there, and else leaves
// what the real one would leave: a list of packages and a Node, which "ci" does not bring when a file "no-node" is there.
const FAKE_NPM = `
import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
const { env, argv, pid } = process
appendFileSync(env.FAKE_NPM + '/calls', JSON.stringify({ args: argv.slice(2), env, pid }) + '\\n')
while (existsSync(env.FAKE_NPM + '/hold')) await new Promise((resolve) => setTimeout(resolve, 10))
if (existsSync(env.FAKE_NPM + '/fail')) {
  console.error('npm error code ENOTFOUND')
  process.exit(1)
}
rmSync('node_modules', { recursive: true, force: true })
mkdirSync('node_modules/.bin', { recursive: true })
if (argv[2] !== 'ci' || !existsSync(env.FAKE_NPM + '/no-node')) symlinkSync(env.NODE_FOR_CLONE, 'node_modules/.bin/node')
writeFileSync('node_modules/.package-lock.json', '{"packages":{}}')
`

export interface NpmCall {
  args: string[]
  env: Record<string, string>
  pid: number
}

export class MiniClone {
  readonly root: string
  readonly #fake = tempDir()

  constructor(main = 'console.log(process.version)', options: { root?: string; engine?: string } = {}) {
    this.root = options.root ?? tempDir()
    for (const file of COPIED) {
      mkdirSync(dirname(join(this.root, file)), { recursive: true })
      copyFileSync(join(ROOT, file), join(this.root, file))
    }
    const engines = {
      node: options.engine ?? JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines.node,
    }
    this.write('package.json', JSON.stringify({ name: 'mini', type: 'module', engines }))
    this.write('package-lock.json', JSON.stringify({ packages: {} }))
    this.write('src/main.ts', main)
    writeFileSync(join(this.#fake, 'npm-cli.js'), FAKE_NPM)
    writeFileSync(join(this.#fake, 'package.json'), '{ "type": "module" }')
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.root, file)), { recursive: true })
    writeFileSync(join(this.root, file), text)
  }

  /** Leaves what npm leaves when somebody installed by hand. */
  installByHand(): void {
    this.write('node_modules/.package-lock.json', '{"packages":{}}')
    mkdirSync(join(this.root, 'node_modules/.bin'))
    symlinkSync(process.execPath, join(this.root, 'node_modules/.bin/node'))
  }

  npm(state: 'hold' | 'fail' | 'no-node'): string {
    const file = join(this.#fake, state)
    writeFileSync(file, '')
    return file
  }

  calls(): NpmCall[] {
    const file = join(this.#fake, 'calls')
    if (!existsSync(file)) return []
    // The last line may still be on its way, and the file is there before the first.
    return readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  }

  /** Runs one of the clone's scripts as somebody who can write nothing there. */
  async startReadOnly(file: string): Promise<Script> {
    chmodSync(this.root, 0o555)
    // Root may write everywhere, so somebody else has to try.
    const script = this.start(file, process.getuid?.() === 0 ? { as: 65_534 } : {})
    await script.closed
    chmodSync(this.root, 0o755)
    return script
  }

  /** Starts one of the clone's scripts. */
  start(
    file: string,
    options: { node?: string; args?: string[]; env?: Record<string, string>; as?: number } = {},
  ): Script {
    const outside = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_TEST|NODE_ENV$)/i.test(name))
    const env = {
      ...Object.fromEntries(outside),
      npm_execpath: join(this.#fake, 'npm-cli.js'),
      FAKE_NPM: this.#fake,
      NODE_FOR_CLONE: process.execPath,
      ...options.env,
    }
    const args = [join(this.root, file), ...(options.args ?? [])]
    const as = options.as === undefined ? {} : { uid: options.as, gid: options.as }
    return new Script(spawn(options.node ?? process.execPath, args, { cwd: this.root, env, ...as }))
  }

  /** Set-up alone, in a process of its own; prints how much CPU time it took, which does not depend on what else the machine does. */
  setUp(options: { node?: string; dev?: boolean; env?: Record<string, string> } = {}): Script {
    this.write(
      'set-up-only.mjs',
      `import { ensureSetup } from './scripts/setup.mjs'
       const began = process.cpuUsage()
       const { node } = await ensureSetup(${options.dev === undefined ? '' : `{ dev: ${options.dev} }`})
       const { user, system } = process.cpuUsage(began)
       console.log(JSON.stringify({ node, cpuMs: (user + system) / 1_000 }))`,
    )
    return this.start('set-up-only.mjs', options)
  }
}

export class Script {
  readonly child: ChildProcessWithoutNullStreams
  stdout = ''
  stderr = ''
  /** Resolves when the process and everything that shares its output has ended. */
  readonly closed: Promise<{ status: number | null; signal: NodeJS.Signals | null }>

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child
    child.stdout.setEncoding('utf8').on('data', (text) => {
      this.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      this.stderr += text
    })
    this.closed = once(child, 'close').then(([status, signal]) => ({ status, signal }))
  }

  /** Resolves when the text has been printed to either stream. */
  async printed(text: string): Promise<void> {
    while (!this.stdout.includes(text) && !this.stderr.includes(text)) {
      const more = Promise.race([once(this.child.stdout, 'data'), once(this.child.stderr, 'data')])
      const ended = this.closed.then(() => 'ended')
      if ((await Promise.race([more, ended])) === 'ended' && !(this.stdout + this.stderr).includes(text)) {
        throw new Error(`It ended without printing "${text}":\n${this.stdout}${this.stderr}`)
      }
    }
  }
}

/** A Node that can start us but not run us, as many machines have it. */
export function findOldNode(): string | null {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const candidate = join(directory, 'node')
    if (!existsSync(candidate)) continue
    const major = Number(/^v(\d+)/.exec(spawnSync(candidate, ['--version'], { encoding: 'utf8' }).stdout)?.[1])
    if (major >= 20 && major < 24) return candidate
  }
  return null
}

/** Resolves when a process that is not our child is gone, or waits only for somebody to read its status. */
export async function hasEnded(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
      if (/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return
    } catch {
      return
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
}
