import type { Micros } from '../../platform/clock/clock.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { isSecretKey, SETTING_KEYS } from './setting-keys.ts'
import type { Patched, StoredValues } from './settings-patch.ts'
import { deleteSetting, putSetting, readSettingRows } from './store-settings.ts'

/** What administrators stored. A secret that this server cannot open, and a key that it does not know, are left out. */
export async function readStored(reader: Reader, cipher: Cipher): Promise<StoredValues> {
  const stored = new Map<string, unknown>()
  for (const { key, value } of await readSettingRows(reader)) {
    const text = isSecretKey(key) ? cipher.decrypt(value, bindingOf(key))?.toString() : value
    if (text !== undefined && SETTING_KEYS.has(key)) stored.set(key, JSON.parse(text))
  }
  return stored
}

/** Writes what differs, and removes what is no longer there. */
export async function writeStored(
  tx: Transaction,
  cipher: Cipher,
  before: StoredValues,
  { stored: after, dropped }: Pick<Patched, 'stored' | 'dropped'>,
  now: Micros,
): Promise<void> {
  for (const key of new Set([...before.keys(), ...dropped])) if (!after.has(key)) await deleteSetting(tx, key)
  for (const [key, value] of after) {
    const text = JSON.stringify(value)
    if (before.has(key) && JSON.stringify(before.get(key)) === text) continue
    await putSetting(tx, key, isSecretKey(key) ? cipher.encrypt(Buffer.from(text), bindingOf(key)) : text, now)
  }
}

function bindingOf(key: string): string {
  return `instance_settings ${key}`
}
