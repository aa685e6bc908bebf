/**
 * Encryption of what the server must be able to read again, such as the secret of a second factor. A text is
 * `v1.<nonce>.<data>`: AES-256-GCM, so a changed byte is noticed. The binding names the place where the text belongs
 * (table and row) and is part of what is authenticated: a text copied to another row opens nothing there.
 *
 * Random nonces are safe for 2^32 values under one key. Of texts, which people make, there will never be as many. Callbacks
 * may be: they are sealed as bytes `2 <salt> <nonce> <data>`, under a key that each process derives from a salt of its own
 * and gives up long before that number. Bytes that begin with 1 have no salt and were sealed by the key itself, as texts are.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const VERSION = 'v1'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PLAIN_KEY = 1
const SALTED_KEY = 2
const SALT_BYTES = 8
const SALTED_AT = 1 + SALT_BYTES
// What one derived key seals at most.
const MOST_SEALED = 2 ** 30
// Keys of earlier processes, and of others, that are kept once they were derived.
const MOST_KEYS = 1_000
export const KEY_BYTES = 32

interface SaltedKey {
  salt: Buffer
  key: KeyObject
  left: number
}

export class Cipher {
  // Bytes would be made a key at each use, which takes four times as long as to encrypt a callback.
  readonly #key: KeyObject
  readonly #salted = new Map<string, KeyObject>()
  #current: SaltedKey | null = null

  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES) throw new Error(`An encryption key has ${KEY_BYTES} bytes`)
    this.#key = createSecretKey(key)
  }

  encrypt(plain: Buffer, binding: string): string {
    const sealed = Buffer.allocUnsafe(NONCE_BYTES + plain.byteLength + TAG_BYTES)
    write(sealed, 0, this.#key, plain, binding)
    return [VERSION, sealed.toString('base64url', 0, NONCE_BYTES), sealed.toString('base64url', NONCE_BYTES)].join('.')
  }

  /** As bytes, for what is stored in large numbers. */
  seal(plain: Uint8Array, binding: string): Buffer {
    const { salt, key } = this.#next()
    const sealed = Buffer.allocUnsafe(SALTED_AT + NONCE_BYTES + plain.byteLength + TAG_BYTES)
    sealed[0] = SALTED_KEY
    salt.copy(sealed, 1)
    write(sealed, SALTED_AT, key, plain, binding)
    return sealed
  }

  /** Undefined when the text was not made by this key for this binding, or was changed since. */
  decrypt(text: string, binding: string): Buffer | undefined {
    const parts = /^v1\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]+)$/.exec(text)
    if (parts === null) return undefined
    const nonce = Buffer.from(parts[1] as string, 'base64url')
    return read(Buffer.concat([nonce, Buffer.from(parts[2] as string, 'base64url')]), 0, this.#key, binding)
  }

  /** Undefined as above. */
  open(sealed: Uint8Array, binding: string): Buffer | undefined {
    if (sealed[0] === PLAIN_KEY) return read(sealed, 1, this.#key, binding)
    if (sealed[0] !== SALTED_KEY || sealed.length < SALTED_AT) return undefined
    return read(sealed, SALTED_AT, this.#saltedKey(sealed), binding)
  }

  /** A key of its own for a purpose, the same in every process that has this one: a seal on what callers give back. */
  deriveKey(purpose: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, '', purpose, KEY_BYTES))
  }

  #next(): SaltedKey {
    if (this.#current === null || this.#current.left === 0) {
      const salt = randomBytes(SALT_BYTES)
      this.#current = { salt, key: this.#derive(salt), left: MOST_SEALED }
    }
    this.#current.left--
    return this.#current
  }

  #saltedKey(sealed: Uint8Array): KeyObject {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, SALTED_AT)
    // What is read was sealed by this process as a rule.
    if (this.#current !== null && bytes.compare(this.#current.salt, 0, SALT_BYTES, 1) === 0) return this.#current.key
    const name = bytes.toString('latin1', 1)
    let key = this.#salted.get(name)
    if (key === undefined) {
      key = this.#derive(bytes.subarray(1))
      if (this.#salted.size >= MOST_KEYS) this.#salted.clear()
      this.#salted.set(name, key)
    }
    return key
  }

  #derive(salt: Uint8Array): KeyObject {
    return createSecretKey(Buffer.from(hkdfSync('sha256', this.#key, salt, 'sealed bytes', KEY_BYTES)))
  }
}

/** Nonce, data and tag, from `at` to the end. */
function write(sealed: Buffer, at: number, key: KeyObject, plain: Uint8Array, binding: string): void {
  const nonce = sealed.subarray(at, at + NONCE_BYTES)
  writeNonce(nonce)
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(binding))
  // All of it at once: this mode keeps nothing back for the end.
  cipher.update(plain).copy(sealed, at + NONCE_BYTES)
  cipher.final()
  cipher.getAuthTag().copy(sealed, sealed.length - TAG_BYTES)
}

function read(sealed: Uint8Array, at: number, key: KeyObject, binding: string): Buffer | undefined {
  const dataAt = at + NONCE_BYTES
  const tagAt = sealed.length - TAG_BYTES
  if (tagAt < dataAt) return undefined
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(at, dataAt), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(binding))
  decipher.setAuthTag(sealed.subarray(tagAt))
  try {
    const plain = decipher.update(sealed.subarray(dataAt, tagAt))
    decipher.final()
    return plain
  } catch {
    return undefined
  }
}

// Asking for random bytes takes as long as to encrypt a callback: they are fetched for many nonces at once.
const random = Buffer.alloc(NONCE_BYTES * 256)
let used = random.length

function writeNonce(nonce: Buffer): void {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  random.copy(nonce, 0, used, used + NONCE_BYTES)
  used += NONCE_BYTES
}
