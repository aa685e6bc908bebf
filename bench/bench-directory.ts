import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// NOTE Beside the sources, not in the system's directory for temporary files: that one may lie in memory, where an fsync
// costs nothing and durable writes measure nothing.
const PARENT = new URL('../.cache/', import.meta.url)

/** A new directory on a real disk, removed when the process ends. */
export function benchDirectory(): string {
  mkdirSync(PARENT, { recursive: true })
  const directory = mkdtempSync(fileURLToPath(new URL('bench-', PARENT)))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}
