import { randomBytes } from 'node:crypto'
import { hashSecret } from '../../platform/auth/secrets.ts'
import { base32 } from './totp.ts'

const COUNT = 10
// 80 bits: enough to be stored as a plain hash, and still short enough to type.
const BYTES = 10

/** Ten one-time codes such as `k3vq-7dny-2xlp-hm5c`. */
export function mintRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => {
    const text = base32(randomBytes(BYTES)).toLowerCase()
    return (text.match(/.{4}/g) as string[]).join('-')
  })
}

/** However it was typed: with or without hyphens, in any case. */
export function recoveryCodeHash(code: string): string {
  return hashSecret(code.toLowerCase().replaceAll(/[\s-]/g, ''))
}
