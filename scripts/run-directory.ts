import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { MEMORY, memoryDirectory } from '../test/support/memory-directory.ts'

const PREFIX = 'commonplace-run-'
// A run has about a gigabyte there at a time; the rest is for the programs.
const ROOM_BYTES = 6 * 2 ** 30

/**
 * Where the tests' temporary files go; named after this process, so that the next run can tell it was killed. In memory where there is room: SQLite
 * waits for the disk at every commit, and a run has many thousands.
 */
export function makeRunDirectory(): string {
  removeLeftovers()
  const memory = memoryDirectory(ROOM_BYTES)
  const directory = mkdtempSync(join(memory !== null && runsPrograms(memory) ? memory : tmpdir(), nameBegin()))
  chmodSync(directory, 0o711) // PostgreSQL may have to run as another user
  return directory
}

function nameBegin(): string {
  return `${PREFIX}${process.pid}-`
}

/** Tests install the server in their directories, and some systems run nothing that lies in memory. */
function runsPrograms(directory: string): boolean {
  const program = join(directory, `${nameBegin()}program`)
  try {
    writeFileSync(program, '', { mode: 0o700 })
    accessSync(program, constants.X_OK)
    return true
  } catch {
    return false
  } finally {
    rmSync(program, { force: true })
  }
}

function removeLeftovers(): void {
  const parents = [tmpdir(), MEMORY].filter((parent) => existsSync(parent))
  const paths = parents.flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
  for (const path of paths.filter((path) => basename(path).startsWith(PREFIX))) {
    try {
      process.kill(Number(basename(path).slice(PREFIX.length).split('-')[0]), 0)
    } catch (error) {
      const mine = statSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.()
      if (mine && (error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(path, { recursive: true, force: true })
    }
  }
}
