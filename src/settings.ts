import type { Static } from 'typebox'
import { callbacksSettings } from './callbacks/settings.ts'
import { instanceSettings } from './instance/settings.ts'
import { knowledgeSettings } from './knowledge/settings.ts'
import { group } from './platform/config/keys.ts'
import { type Loaded, type LoadOptions, loadSettings as load } from './platform/config/load-settings.ts'
import { maskSecrets as mask } from './platform/config/mask-secrets.ts'
import { authSettings } from './platform/config/sections/auth.ts'
import { serverSettings } from './platform/config/sections/server.ts'
import { storageSettings } from './platform/config/sections/storage.ts'
import { telemetrySettings } from './platform/config/sections/telemetry.ts'
import { type GroupSetting, settingOf } from './platform/config/setting.ts'
import { usersSettings } from './users/settings.ts'

/** Each feature owns its section; what they mean is told by docs/settings.md, which is made from this. */
const SETTINGS = group({
  server: serverSettings,
  storage: storageSettings,
  auth: authSettings,
  users: usersSettings,
  instance: instanceSettings,
  knowledge: knowledgeSettings,
  callbacks: callbacksSettings,
  telemetry: telemetrySettings,
})

/** Durations are milliseconds, sizes bytes. Frozen at every depth. */
export type Settings = Static<typeof SETTINGS>
export type LoadedSettings = Loaded<Settings>

/** `COMMONPLACE_PORT` beside `COMMONPLACE_SERVER__PORT`: the few that everybody needs. */
export const SHORT_NAMES = {
  'server.host': 'HOST',
  'server.port': 'PORT',
  'server.grpc_port': 'GRPC_PORT',
  'server.base_url': 'BASE_URL',
  'storage.data_dir': 'DATA_DIR',
  'storage.database_url': 'DATABASE_URL',
  'auth.admin_email': 'ADMIN_EMAIL',
  'auth.admin_token': 'ADMIN_TOKEN',
  'auth.api_key': 'API_KEY',
  'auth.application_key': 'APPLICATION_KEY',
  'telemetry.log_level': 'LOG_LEVEL',
} as const

export const ROOT = settingOf(SETTINGS) as GroupSetting

/** Throws `SettingsError` with every problem there is. */
export function loadSettings(options: LoadOptions): Promise<LoadedSettings> {
  return load(SETTINGS, SHORT_NAMES, options)
}

/** The names of the sections in which the two differ. */
export function changedSections(before: Settings, after: Settings): (keyof Settings)[] {
  const names = Object.keys(before) as (keyof Settings)[]
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
}

/** A copy that may be shown or logged. */
export function maskSecrets(settings: Settings): Settings {
  return mask(ROOT, settings)
}
