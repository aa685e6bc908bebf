import type { Source } from '../../platform/config/origins.ts'
import { type GroupSetting, type Setting, settingOf, settingsIn } from '../../platform/config/setting.ts'
import { instanceSettings } from '../settings.ts'

export const SETTINGS_ROOT = settingOf(instanceSettings) as GroupSetting

/** Every key below `instance`, by its path: `contact.email`. Lists and maps are one key each. */
export const SETTING_KEYS: ReadonlyMap<string, Setting> = new Map(
  settingsIn(SETTINGS_ROOT)
    .filter(({ setting }) => setting.kind !== 'group')
    .map(({ path, setting }) => [path.join('.'), setting]),
)

export function isSecretKey(key: string): boolean {
  return SETTING_KEYS.get(key)?.secret !== undefined
}

export type Sources = ReadonlyMap<string, Source>

/** Whether the environment, or whoever typed the command, has the last word on the key. */
export function isFixed(sources: Sources, key: string): boolean {
  const source = sources.get(`instance.${key}`)
  return source === 'environment' || source === 'flag'
}
