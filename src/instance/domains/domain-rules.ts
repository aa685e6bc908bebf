import type { Clock } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import { OutageLog } from '../../platform/logging/outage-log.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import type { SettingsKeeper } from '../settings/settings-keeper.ts'
import { type DomainPolicy, refusalOf } from './domain-verdict.ts'
import { readSeverities } from './store-blocks.ts'
import { readDomainNames } from './store-named-domains.ts'

export interface DomainRulesOptions {
  db: Database
  clock: Clock
  log: Logger
  changes: InstanceChanges
  keeper: SettingsKeeper
}

const RETRY_MS = 1_000

/**
 * Which hosts nothing may be delivered to, from memory. Kept up to date with the changes of administrators, here and in
 * other processes.
 */
export class DomainRules {
  readonly #options: DomainRulesOptions
  readonly #listeners = new Set<() => void>()
  #policy: DomainPolicy = { severities: new Map(), allowed: null }
  #begun = 0
  #taken = 0
  #isStale = false
  #loading: Promise<void> | undefined
  readonly #outage: OutageLog

  constructor(options: DomainRulesOptions) {
    this.#options = options
    this.#outage = new OutageLog(options.log)
    options.changes.listen(() => this.#reload())
  }

  /** Before the first delivery. */
  async load(): Promise<void> {
    const reading = ++this.#begun
    const policy = await this.#read()
    // One that began later, after a change, may have come first.
    if (reading < this.#taken) return
    this.#taken = reading
    this.#policy = policy
  }

  /** Why nothing may be delivered to the host, in words that may be shown; null when it may. */
  reasonFor(host: string): string | null {
    return refusalOf(this.#policy, host)
  }

  /** Calls back when answers may have changed. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #reload(): Promise<void> {
    this.#isStale = true
    this.#loading ??= this.#readAgain().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  async #readAgain(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      try {
        await this.load()
      } catch (error) {
        const { clock } = this.#options
        this.#outage.tell({ err: error }, 'changed domain rules cannot be read; the former ones hold until they can')
        clock.after(RETRY_MS, () => void this.#reload())
        return
      }
    }
    this.#outage.over('changed domain rules are read again')
    for (const listener of this.#listeners) listener()
  }

  async #read(): Promise<DomainPolicy> {
    const { db, keeper } = this.#options
    return db.read(async (snapshot) => {
      const { whitelist_mode: isLimited } = await keeper.effectiveSettings(snapshot)
      return {
        severities: await readSeverities(snapshot),
        allowed: isLimited ? new Set(await readDomainNames(snapshot, 'domain_allows')) : null,
      }
    })
  }
}
