import type { Change } from '../../platform/audit/audit-change.ts'
import { maskSecrets } from '../../platform/config/mask-secrets.ts'
import { isRecord } from '../../platform/config/setting.ts'
import type { InstanceSettings } from '../settings.ts'
import { isSecretKey, SETTING_KEYS, SETTINGS_ROOT } from './setting-keys.ts'

/** The value at a path such as `contact.email`. */
function valueAt(settings: InstanceSettings, key: string): unknown {
  return key.split('.').reduce<unknown>((value, step) => (isRecord(value) ? value[step] : undefined), settings)
}

/**
 * What differs, for the audit log; undefined when nothing does. As lists of texts: the log refuses members that are called
 * like secrets, as `rate_limits.per_token` is.
 */
export function settingChanges(before: InstanceSettings, after: InstanceSettings): Change['changes'] | undefined {
  const old: string[] = []
  const changed: string[] = []
  const [shownBefore, shownAfter] = [maskSecrets(SETTINGS_ROOT, before), maskSecrets(SETTINGS_ROOT, after)]
  for (const key of SETTING_KEYS.keys()) {
    if (JSON.stringify(valueAt(before, key)) === JSON.stringify(valueAt(after, key))) continue
    old.push(`${key}: ${JSON.stringify(valueAt(shownBefore, key))}`)
    changed.push(`${key}: ${JSON.stringify(valueAt(shownAfter, key))}${isSecretKey(key) ? ' (changed)' : ''}`)
  }
  return changed.length === 0 ? undefined : { settings: { old, new: changed } }
}
