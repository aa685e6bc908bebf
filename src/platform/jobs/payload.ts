import { AppError } from '../errors/app-error.ts'
import { PermanentFailure } from './failures.ts'

// A batch of claimed jobs is in memory at once: large inputs belong into a table of their own, the job names the row.
const LARGEST_PAYLOAD = 1_048_576

export function encodePayload(kind: string, payload: unknown): string {
  const text = JSON.stringify(payload ?? null)
  if (text.length <= LARGEST_PAYLOAD) return text
  throw new AppError('too_large', `A job of kind ${kind} would carry more than ${LARGEST_PAYLOAD} characters`)
}

export function decodePayload(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PermanentFailure('The payload of the job is not JSON', { cause })
  }
}
