// Standard Webhooks, version 1: HMAC-SHA256 over `id.timestamp.body`, one signature for each secret that is in use.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { AppError } from '../../../platform/errors/app-error.ts'

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
    .map((secret) => createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ')
}

// Bytes would be made a key at each use, which takes three times as long as to sign.
const keys = new WeakMap<Uint8Array, KeyObject>()

function keyOf(secret: Uint8Array): KeyObject {
  const known = keys.get(secret)
  if (known !== undefined) return known
  const key = createSecretKey(secret)
  keys.set(secret, key)
  return key
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
