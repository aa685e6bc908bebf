/**
 * The key with which push messages would be signed. Made once and kept: browsers tie their subscriptions to it. The
 * private half is stored encrypted.
 */
import { generateKeyPairSync } from 'node:crypto'
import type { Clock } from '../../platform/clock/clock.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database } from '../../platform/storage/database.ts'
import { keepVapidKey, readVapidKey } from './store-vapid.ts'

export interface VapidOptions {
  db: Database
  clock: Clock
  cipher: Cipher
}

const VAPID_BINDING = 'instance_secrets vapid'

/** The public half: an uncompressed point in URL-safe base64 with padding. Of several processes the first one's stays. */
export async function ensureVapidKey({ db, clock, cipher }: VapidOptions): Promise<string> {
  const known = await readVapidKey(db)
  if (known !== undefined) return known
  const { publicKey, privateKey } = newKeyPair()
  const sealed = cipher.encrypt(privateKey, VAPID_BINDING)
  await db.write((tx) => keepVapidKey(tx, publicKey, sealed, clock.now()), { isolation: 'read committed' })
  return (await readVapidKey(db)) as string
}

function newKeyPair(): { publicKey: string; privateKey: Buffer } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const { x, y, d } = privateKey.export({ format: 'jwk' }) as { x: string; y: string; d: string }
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  const publicKey = point.toString('base64').replaceAll('+', '-').replaceAll('/', '_')
  return { publicKey, privateKey: Buffer.from(d, 'base64url') }
}
