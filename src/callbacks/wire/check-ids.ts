import { parseId } from '../../platform/ids/uuid.ts'
import { invalid } from './invalid.ts'

/** White space is something. */
export function requireText(name: string, value: string): void {
  if (value === '') throw invalid(`${name} is required`)
}

export function checkLength(name: string, value: string, maxBytes: number): void {
  // PostgreSQL keeps no text with this character.
  if (value.includes('\0')) throw invalid(`${name} must not contain the character NUL`)
  const bytes = Buffer.byteLength(value)
  if (bytes > maxBytes) throw invalid(`${name} has ${bytes} bytes, which exceeds the limit of ${maxBytes}`)
}

// An index of PostgreSQL holds 2,704 bytes of a row. On every engine: a dump moves from one to the other.
const MOST_KEY_BYTES = 2_000

/** Of what is looked up by an index and about to be stored, whatever the namespace allows. */
export function checkKeyLength(name: string, value: string, maxBytes: number): void {
  checkLength(name, value, Math.min(maxBytes, MOST_KEY_BYTES))
}

/** Null when none was given: the latest run is meant. */
export function readRunId(value: string): string | null {
  if (value === '') return null
  const runId = parseId(value)
  if (runId === undefined) throw invalid('run_id is not a valid UUID')
  return runId
}
