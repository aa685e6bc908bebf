import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * A directory, and those above it that are missing.
 * NOTE Not mkdir's own `recursive`: Node never returns from it where the system refuses with "no such file", as /proc does.
 */
export function makeDirectory(path: string, mode?: number): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeDirectory(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process that starts at the same moment may have been faster.
    if (!existsSync(path)) throw error
  }
}

/** The place of what the server keeps, readable by its owner alone. */
export function makeDataDirectory(path: string): void {
  makeDirectory(path, 0o700)
}
