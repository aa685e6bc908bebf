import type { Logger } from '../../platform/logging/logger.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database, Reader } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import type { InstanceSettings } from '../settings.ts'
import { layUsableOver, type Usable } from './effective-settings.ts'
import type { Sources } from './setting-keys.ts'
import { readStored } from './stored-settings.ts'

export interface SettingsKeeperOptions {
  db: Database
  log: Logger
  cipher: Cipher
  settings: InstanceSettings
  sources: Sources
  changes: InstanceChanges
}

/** What the operator set, by file, environment and flags, or left to the defaults; stored values lie over it. */
export interface GivenSettings {
  settings: InstanceSettings
  sources: Sources
}

/** The settings in effect, kept in memory until somebody changes one, in this process or another. */
export class SettingsKeeper {
  readonly #options: SettingsKeeperOptions
  #given: GivenSettings
  #known: InstanceSettings
  #isStale = true
  #loading: Promise<void> | undefined
  #warnedOf = ''

  constructor(options: SettingsKeeperOptions) {
    this.#options = options
    this.#given = options
    this.#known = options.settings
    options.changes.listen(() => {
      this.#isStale = true
      return this.current().then(
        () => {},
        (error: unknown) => options.log.warn({ err: error }, 'changed settings could not be read; they are read again'),
      )
    })
  }

  get given(): GivenSettings {
    return this.#given
  }

  /** What the operator set was read again. Settles when it holds everywhere in this process. */
  async replaceGiven(given: GivenSettings): Promise<void> {
    this.#given = given
    await this.#options.changes.renew()
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
    return (await this.read(reader)).settings
  }

  /** With the stored values they are made from, without those that this version cannot use. */
  async read(reader: Reader): Promise<Usable> {
    const { cipher, log } = this.#options
    const stored = await readStored(reader, cipher)
    const found = layUsableOver(this.#given.settings, stored)
    const left = found.left.join(', ')
    if (left !== this.#warnedOf && left !== '')
      log.warn({ keys: left }, 'stored settings are not valid and have no effect')
    this.#warnedOf = left
    return found
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
