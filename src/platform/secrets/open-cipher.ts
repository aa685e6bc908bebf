/**
 * The key under which secrets are stored. It is made once per database and kept there, so that any number of
 * processes work without a setting:
 *
 * - without `auth.encryption_key` it stands in the database as it is: whoever has a copy of the database can read the
 *   secrets in it;
 * - with the setting it is itself encrypted by the key of the operator, which never enters the database. A key that is
 *   set later locks what was open before, at the next start of a server. Taking it away again, or changing it, is refused at the start.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock/clock.ts'
import { AppError } from '../errors/app-error.ts'
import type { Database, Reader } from '../storage/database.ts'
import { Cipher, KEY_BYTES } from './cipher.ts'
import { keepDataKey, readDataKey, replaceDataKey } from './store.ts'

export interface OpenCipherOptions {
  db: Database
  clock: Clock
  /** `auth.encryption_key` */
  encryptionKey: string | null
  /** False: a command, whose settings may be those of another shell than the server's. It leaves open what is open. */
  mayLock?: boolean
}

const OPEN = 'open.'
const BINDING = 'installation data_key'

export async function openCipher({ db, clock, encryptionKey, mayLock = true }: OpenCipherOptions): Promise<Cipher> {
  const lock = lockOf(encryptionKey)
  if ((await readDataKey(db)) === undefined) {
    await keepDataKey(db, written(randomBytes(KEY_BYTES), lock), clock.now())
  }
  const stored = (await readDataKey(db)) as string
  if (!stored.startsWith(OPEN)) return new Cipher(unlocked(stored, lock))
  const key = Buffer.from(stored.slice(OPEN.length), 'base64url')
  if (lock !== null && mayLock) await replaceDataKey(db, stored, written(key, lock))
  return new Cipher(key)
}

/** Throws what `openCipher` would throw at the start, and changes nothing. */
export async function checkEncryptionKey(reader: Reader, encryptionKey: string | null): Promise<void> {
  const stored = await readDataKey(reader)
  if (stored !== undefined && !stored.startsWith(OPEN)) unlocked(stored, lockOf(encryptionKey))
}

/** 32 bytes, as 64 hexadecimal characters or as base64 of either alphabet; undefined for anything else. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

function lockOf(encryptionKey: string | null): Cipher | null {
  return encryptionKey === null ? null : new Cipher(parseEncryptionKey(encryptionKey) as Buffer)
}

function written(key: Buffer, lock: Cipher | null): string {
  return lock === null ? OPEN + key.toString('base64url') : lock.encrypt(key, BINDING)
}

function unlocked(stored: string, lock: Cipher | null): Buffer {
  if (lock === null) {
    throw new AppError(
      'failed_precondition',
      'The secrets in this database are encrypted with a key of yours: set auth.encryption_key to it',
    )
  }
  const key = lock.decrypt(stored, BINDING)
  if (key !== undefined) return key
  throw new AppError(
    'failed_precondition',
    'auth.encryption_key is not the key with which the secrets in this database are encrypted: set it to that one',
  )
}
