import type { Logger } from '../../platform/logging/logger.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import type { InstanceSettings } from '../deps.ts'
import { layOver, usableValues } from './effective-settings.ts'
import type { StoredValues } from './settings-patch.ts'
import { readStored } from './stored-settings.ts'

export interface SettingsKeeperOptions {
  db: Database
  log: Logger
  cipher: Cipher
  /** From file, environment and defaults. */
  settings: InstanceSettings
  changes: InstanceChanges
}

/** The settings in effect, kept in memory until somebody changes one, in this process or another. */
export class SettingsKeeper {
  readonly #options: SettingsKeeperOptions
  #known: InstanceSettings
  #isStale = true
  #loading: Promise<void> | undefined
  #warnedOf = ''

  constructor(options: SettingsKeeperOptions) {
    this.#options = options
    this.#known = options.settings
    options.changes.listen(() => {
      this.#isStale = true
      return this.current().then(
        () => {},
        (error: unknown) => options.log.warn({ err: error }, 'changed settings could not be read; they are read again'),
      )
    })
  }

  /** The last ones known, without waiting: for what is decided at every request. */
  known(): InstanceSettings {
    return this.#known
  }

  /** From memory, unless they changed. */
  async current(): Promise<InstanceSettings> {
    // What is being read counts: what is known meanwhile is what was before the change.
    while (this.#isStale || this.#loading !== undefined) {
      this.#loading ??= this.#load().finally(() => {
        this.#loading = undefined
      })
      await this.#loading
    }
    return this.#known
  }

  /** As a snapshot or a transaction sees them. */
  async effectiveSettings(reader: Reader): Promise<InstanceSettings> {
    return this.effectiveOf(await this.readStored(reader))
  }

  /** Without those that this version cannot use. */
  async readStored(reader: Reader): Promise<StoredValues> {
    const { settings, cipher, log } = this.#options
    const stored = await readStored(reader, cipher)
    const usable = usableValues(settings, stored)
    const left = [...stored.keys()].filter((key) => !usable.has(key)).join(', ')
    if (left !== this.#warnedOf && left !== '')
      log.warn({ keys: left }, 'stored settings are not valid and have no effect')
    this.#warnedOf = left
    return usable
  }

  effectiveOf(stored: StoredValues): InstanceSettings {
    const effective = layOver(this.#options.settings, stored)
    return 'settings' in effective ? effective.settings : this.#options.settings
  }

  async #load(): Promise<void> {
    this.#isStale = false
    try {
      this.#known = await this.effectiveSettings(this.#options.db)
    } catch (error) {
      this.#isStale = true
      throw error
    }
  }
}
