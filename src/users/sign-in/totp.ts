/** Time-based one-time passwords as in RFC 6238, with the parameters that every app understands. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'

const PERIOD_SECONDS = 30
const DIGITS = 6
// A clock that is off by up to half a minute, and a code that was typed as it ran out, still work.
const DRIFT_STEPS = 1
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export const TOTP_CODE = /^\d{6}$/

export function stepAt(now: Micros): number {
  return Math.floor(now / (PERIOD_SECONDS * MICROS_PER_SECOND))
}

export function totpCode(secret: Buffer, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = (mac.at(-1) as number) & 0x0f
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** The time step that the code belongs to, if it was not used up by that step or a later one. */
export function matchingStep(secret: Buffer, code: string, now: Micros, lastStep: number): number | undefined {
  const sent = Buffer.from(code)
  const current = stepAt(now)
  let found: number | undefined
  // All are compared, whichever fits: the time it takes says nothing.
  for (let step = current - DRIFT_STEPS; step <= current + DRIFT_STEPS; step++) {
    const expected = Buffer.from(totpCode(secret, step))
    const matches = expected.length === sent.length && timingSafeEqual(expected, sent)
    if (matches && step > lastStep) found ??= step
  }
  return found
}

/** What an app reads from a QR code. */
export function otpauthUri(secret: Buffer, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const parameters = `secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
  return `otpauth://totp/${label}?${parameters}&algorithm=SHA1&digits=${DIGITS}&period=${PERIOD_SECONDS}`
}

/** RFC 4648 without padding: the form in which people type a secret. */
export function base32(bytes: Buffer): string {
  let text = ''
  for (let bit = 0; bit < bytes.length * 8; bit += 5) {
    const at = bit >> 3
    const pair = ((bytes[at] as number) << 8) | (bytes[at + 1] ?? 0)
    text += BASE32[(pair >> (11 - (bit & 7))) & 31]
  }
  return text
}
