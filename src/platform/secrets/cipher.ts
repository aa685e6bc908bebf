/**
 * Encryption of what the server must be able to read again, such as the secret of a second factor. A text is
 * `v1.<nonce>.<data>`: AES-256-GCM, so a changed byte is noticed. The binding names the place where the text belongs
 * (table and row) and is part of what is authenticated: a text copied to another row opens nothing there.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const VERSION = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16
export const KEY_BYTES = 32

export class Cipher {
  readonly #key: Buffer

  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES) throw new Error(`An encryption key has ${KEY_BYTES} bytes`)
    this.#key = key
  }

  encrypt(plain: Buffer, binding: string): string {
    // Random nonces are safe for 2^32 texts under one key, far beyond what is stored here.
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(Buffer.from(binding))
    const data = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    return [VERSION, nonce.toString('base64url'), data.toString('base64url')].join('.')
  }

  /** Undefined when the text was not made by this key for this binding, or was changed since. */
  decrypt(text: string, binding: string): Buffer | undefined {
    const parts = /^v1\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]+)$/.exec(text)
    if (parts === null) return undefined
    const data = Buffer.from(parts[2] as string, 'base64url')
    if (data.length < TAG_BYTES) return undefined
    const nonce = Buffer.from(parts[1] as string, 'base64url')
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(binding))
    decipher.setAuthTag(data.subarray(-TAG_BYTES))
    try {
      return Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()])
    } catch {
      return undefined
    }
  }
}
