import { mapValues } from './map-values.ts'
import type { ScalarSetting, Setting } from './setting.ts'

export const MASK = '***'

/** A copy that may be shown. Secrets are masked; addresses lose only what is secret in them. */
export function maskSecrets<Value>(setting: Setting, value: Value): Value {
  return mapValues(setting, value, maskValue) as Value
}

export function maskValue(setting: ScalarSetting, value: unknown): unknown {
  if (setting.secret === undefined) return value
  return setting.secret === 'url' ? maskAddress(String(value)) : MASK
}

function maskAddress(address: string): string {
  const url = URL.parse(address)
  if (!url) return MASK
  if (url.password !== '') url.password = MASK
  for (const name of new Set(url.searchParams.keys())) {
    if (/pass|secret|token|key/i.test(name)) url.searchParams.set(name, MASK)
  }
  return url.href
}
