/**
 * Encryption of what the server must be able to read again, such as the secret of a second factor. A text is
 * `v1.<nonce>.<data>`: AES-256-GCM, so a changed byte is noticed. The binding names the place where the text belongs
 * (table and row) and is part of what is authenticated: a text copied to another row opens nothing there.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const VERSION = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SEALED = Buffer.of(1)
export const KEY_BYTES = 32

export class Cipher {
  // Bytes would be made a key at each use, which takes four times as long as to encrypt a callback.
  readonly #key: KeyObject

  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES) throw new Error(`An encryption key has ${KEY_BYTES} bytes`)
    this.#key = createSecretKey(key)
  }

  encrypt(plain: Buffer, binding: string): string {
    const sealed = this.seal(plain, binding)
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
    return [VERSION, nonce.toString('base64url'), sealed.toString('base64url', 1 + NONCE_BYTES)].join('.')
  }

  /** The same as bytes: the version, the nonce, the data. For what is stored in large numbers. */
  seal(plain: Uint8Array, binding: string): Buffer {
    const end = 1 + NONCE_BYTES + plain.byteLength
    const sealed = Buffer.allocUnsafe(end + TAG_BYTES)
    sealed[0] = SEALED[0] as number
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
    writeNonce(nonce)
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    cipher.setAAD(Buffer.from(binding))
    // All of it at once: this mode keeps nothing back for the end.
    cipher.update(plain).copy(sealed, 1 + NONCE_BYTES)
    cipher.final()
    cipher.getAuthTag().copy(sealed, end)
    return sealed
  }

  /** Undefined when the text was not made by this key for this binding, or was changed since. */
  decrypt(text: string, binding: string): Buffer | undefined {
    const parts = /^v1\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]+)$/.exec(text)
    if (parts === null) return undefined
    const nonce = Buffer.from(parts[1] as string, 'base64url')
    return this.open(Buffer.concat([SEALED, nonce, Buffer.from(parts[2] as string, 'base64url')]), binding)
  }

  /** Undefined as above. */
  open(sealed: Uint8Array, binding: string): Buffer | undefined {
    const data = sealed.subarray(1 + NONCE_BYTES)
    if (sealed[0] !== SEALED[0] || data.length < TAG_BYTES) return undefined
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(binding))
    decipher.setAuthTag(data.subarray(-TAG_BYTES))
    try {
      const plain = decipher.update(data.subarray(0, -TAG_BYTES))
      decipher.final()
      return plain
    } catch {
      return undefined
    }
  }

  /** A key of its own for a purpose, the same in every process that has this one: a seal on what callers give back. */
  deriveKey(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', purpose, KEY_BYTES))
  }
}

// Asking for random bytes takes as long as to encrypt a callback: they are fetched for many nonces at once.
const random = Buffer.alloc(NONCE_BYTES * 256)
let used = random.length

/** Random nonces are safe for 2^32 texts under one key, far beyond what is stored here. */
function writeNonce(nonce: Buffer): void {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  random.copy(nonce, 0, used, used + NONCE_BYTES)
  used += NONCE_BYTES
}
