import type { ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import type { Clock } from '../../platform/clock/clock.ts'
import { maskSecrets } from '../../platform/config/mask-secrets.ts'
import type { Source } from '../../platform/config/origins.ts'
import type { Problem } from '../../platform/config/settings-error.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import { findContactUser } from '../contact/store-contact.ts'
import { type FieldProblem, invalid, invalidField, refuseProblems } from '../invalid.ts'
import type { InstanceSettings } from '../settings.ts'
import { settingChanges } from './audited-settings.ts'
import { layOver } from './effective-settings.ts'
import { keyAddressProblem } from './key-address.ts'
import { isFixed, SETTING_KEYS, SETTINGS_ROOT } from './setting-keys.ts'
import type { SettingsKeeper } from './settings-keeper.ts'
import { type Patched, patchSettings, type StoredValues } from './settings-patch.ts'
import { writeStored } from './stored-settings.ts'

export interface SettingsServiceOptions {
  db: Database
  clock: Clock
  cipher: Cipher
  changes: InstanceChanges
  keeper: SettingsKeeper
}

const TARGET = { type: 'instance_settings', id: 'instance' }

/** Who may call is decided before: `org_management`. */
export class SettingsService {
  readonly #options: SettingsServiceOptions

  constructor(options: SettingsServiceOptions) {
    this.#options = options
  }

  /** The values in effect, secrets masked. */
  async get(_principal: Principal): Promise<InstanceSettings> {
    return shown(await this.#options.keeper.current())
  }

  /** Where each key has its value from. */
  async sources(_principal: Principal): Promise<Record<string, Source | 'stored'>> {
    const { db, keeper } = this.#options
    const { sources } = keeper.given
    const { usable: stored } = await keeper.read(db)
    const sourceOf = (key: string) => (stored.has(key) ? 'stored' : (sources.get(`instance.${key}`) ?? 'default'))
    return Object.fromEntries([...SETTING_KEYS.keys()].map((key) => [key, sourceOf(key)]))
  }

  async patch(principal: Principal, patch: unknown, client?: ClientInfo): Promise<InstanceSettings> {
    const { clock, cipher, keeper, changes } = this.#options
    const settings = await changes.write(async (tx) => {
      const { usable: stored, settings: before } = await keeper.read(tx)
      const { patched, settings: after } = this.#judge(stored, before, patch)
      await refuseUnknownContact(tx, before, after)
      await writeStored(tx, cipher, stored, patched, clock.now())
      const changed = settingChanges(before, after)
      if (changed === undefined) return after
      await changes.record(tx, principal, { action: 'settings.changed', target: TARGET, changes: changed }, client)
      return after
    })
    return shown(settings)
  }

  #judge(
    stored: StoredValues,
    before: InstanceSettings,
    patch: unknown,
  ): { patched: Patched; settings: InstanceSettings } {
    const { settings, sources } = this.#options.keeper.given
    const patched = patchSettings(stored, patch)
    const fixed = patched.given.filter((key) => isFixed(sources, key)).map((key) => fixedKey(key, stored.has(key)))
    const effective = layOver(settings, patched.stored)
    const wrong = 'problems' in effective ? effective.problems.map(toFieldProblem) : []
    const problems = [...patched.problems, ...fixed, ...wrong]
    if (problems.length > 0 || 'problems' in effective) throw invalid(problems)
    refuseProblems([keyAddressProblem(before.translation, effective.settings.translation, patched)])
    return { patched, settings: effective.settings }
  }
}

function shown(settings: InstanceSettings): InstanceSettings {
  return maskSecrets(SETTINGS_ROOT, settings)
}

function fixedKey(field: string, isStored: boolean): FieldProblem {
  const text = isStored
    ? 'is fixed by the environment of the server, and a stored value lies over it: send null to drop that'
    : 'is fixed by the environment of the server: change it there'
  return { field, text, code: 'ERR_FIXED' }
}

function toFieldProblem({ path, message }: Problem): FieldProblem {
  return { field: path, text: message.replace(/\.$/, ''), code: 'ERR_INVALID' }
}

async function refuseUnknownContact(tx: Transaction, before: InstanceSettings, after: InstanceSettings): Promise<void> {
  const { user } = after.contact
  if (user === null || user === before.contact.user) return
  if ((await findContactUser(tx, user)) !== undefined) return
  throw invalidField('contact.user', 'is not the id, handle or email of a user', 'ERR_NOT_FOUND')
}
