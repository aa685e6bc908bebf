// Standard Webhooks, version 1: HMAC-SHA256 over `id.timestamp.body`, one signature for each secret that is in use.
import { createHmac } from 'node:crypto'
import { AppError } from '../../platform/errors/app-error.ts'

const PREFIX = 'whsec_'
const MIN_BYTES = 24
const MAX_BYTES = 64

export interface Signed {
  /** The same for all attempts of a run. */
  id: string
  /** Unix seconds of this attempt, so that a late one is still within what receivers tolerate. */
  timestamp: number
  body: Uint8Array
}

/** Newest secret first. While secrets are changed over a receiver finds its own among the signatures. */
export function signatureOf(secrets: readonly Uint8Array[], { id, timestamp, body }: Signed): string {
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64')}`)
    .join(' ')
}

/** The bytes of a `whsec_…` text. */
export function readSigningSecret(text: string): Uint8Array {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : ''
  const bytes = Buffer.from(encoded, 'base64')
  const isWhole = bytes.toString('base64') === encoded
  if (!isWhole || bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) {
    throw new AppError(
      'invalid_argument',
      `A signing secret must be "${PREFIX}" and the base64 form of ${MIN_BYTES} to ${MAX_BYTES} bytes.`,
    )
  }
  return bytes
}
