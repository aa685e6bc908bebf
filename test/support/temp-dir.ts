import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

/** A new empty directory, removed when the test file ends. */
export function tempDir(): string {
  if (made.length === 0) process.once('exit', removeAll)
  const directory = mkdtempSync(join(tmpdir(), 'commonplace-test-'))
  made.push(directory)
  return directory
}

function removeAll(): void {
  // A server that ends with this process may write until then.
  for (const directory of made) rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}
