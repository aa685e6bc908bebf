import { createHmac } from 'node:crypto'
import { auditChange, type ClientInfo } from '../../platform/audit/audit-change.ts'
import type { Principal } from '../../platform/auth/principal.ts'
import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { FetchJson } from '../../platform/outbound/fetch-json.ts'
import type { Cipher } from '../../platform/secrets/cipher.ts'
import type { Database, Reader, Transaction } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import type { InstanceSettings } from '../settings.ts'
import type { TranslationLanguages } from './languages.ts'
import { fetchLanguages, providerAddress, type TranslationSettings } from './providers.ts'
import { keepTranslationList, readTranslationList } from './store-translation.ts'

export interface TranslationServiceOptions {
  db: Database
  clock: Clock
  log: Logger
  cipher: Cipher
  changes: InstanceChanges
  settings: { current(): Promise<InstanceSettings> }
  fetchJson: FetchJson
}

const HOUR_MS = 3_600_000
const KEPT_MS = 7 * 24 * HOUR_MS
/** After a failure the provider is left alone for so long, whoever asks. */
const PAUSE_MS = 30_000

/** What the provider can translate: the last good list, whatever has become of the provider since. */
export class TranslationService {
  readonly #options: TranslationServiceOptions
  readonly #keySecret: Buffer
  readonly #asking = new Map<string, Promise<TranslationLanguages>>()
  #failed: { key: string; untilMs: number } | undefined

  constructor(options: TranslationServiceOptions) {
    this.#options = options
    this.#keySecret = options.cipher.deriveKey('translation provider key')
  }

  /** Due every hour, asks when the list is missing or has been kept for a week. */
  schedule(jobs: Pick<JobEngine, 'recurring'>): void {
    jobs.recurring({
      name: 'instance.translation_languages',
      everyMs: HOUR_MS,
      timeoutMs: 60_000,
      run: async () => {
        const { translation } = await this.#options.settings.current()
        if (providerAddress(translation) === null || (await this.#isFresh(translation))) return
        await this.#ask(translation)
      },
    })
  }

  /** The stored list; `{}` without a provider, undefined when the provider was never reached. */
  async readLanguages(reader: Reader, { translation }: InstanceSettings): Promise<TranslationLanguages | undefined> {
    if (providerAddress(translation) === null) return {}
    return (await readTranslationList(reader, this.#keyOf(translation)))?.languages
  }

  /** Asks the provider, unless it failed a moment ago. Undefined when there is nothing to be had. */
  async fetchFirst({ translation }: InstanceSettings): Promise<TranslationLanguages | undefined> {
    const key = this.#keyOf(translation)
    if (this.#failed?.key === key && this.#options.clock.elapsedMs() < this.#failed.untilMs) return undefined
    return this.#ask(translation).catch(() => undefined)
  }

  /** Asks now. Undefined when the provider did not answer; the last good list stays. */
  async refresh(principal: Principal, client?: ClientInfo): Promise<TranslationLanguages | undefined> {
    const { changes, settings } = this.#options
    const { translation } = await settings.current()
    if (providerAddress(translation) === null) return {}
    const languages = await this.#ask(translation).catch(() => undefined)
    if (languages === undefined) return undefined
    await changes.write(async (tx) => {
      const target = { type: 'instance_translation', id: translation.provider as string }
      const change = { languages: { new: Object.keys(languages).length } }
      await auditChange(tx, principal, { action: 'instance_translation.refreshed', target, changes: change }, client)
    })
    return languages
  }

  async #isFresh(translation: TranslationSettings): Promise<boolean> {
    const { db, clock } = this.#options
    const list = await readTranslationList(db, this.#keyOf(translation))
    return list !== undefined && list.fetchedAt + KEPT_MS * MICROS_PER_MS > clock.now()
  }

  /** One question at a time, whoever wants to know. */
  #ask(translation: TranslationSettings): Promise<TranslationLanguages> {
    const key = this.#keyOf(translation)
    const asking = this.#asking.get(key) ?? this.#askNow(key, translation).finally(() => this.#asking.delete(key))
    this.#asking.set(key, asking)
    return asking
  }

  async #askNow(key: string, translation: TranslationSettings): Promise<TranslationLanguages> {
    const { db, clock, log, fetchJson } = this.#options
    try {
      const languages = await fetchLanguages(fetchJson, translation)
      await db.write((tx) => this.#keep(tx, key, languages))
      this.#failed = undefined
      return languages
    } catch (error) {
      this.#failed = { key, untilMs: clock.elapsedMs() + PAUSE_MS }
      log.warn(
        { err: error, provider: translation.provider },
        'the languages of the translation service could not be read',
      )
      throw error
    }
  }

  async #keep(tx: Transaction, key: string, languages: TranslationLanguages): Promise<void> {
    const { clock, changes } = this.#options
    await keepTranslationList(tx, key, { languages, fetchedAt: clock.now() })
    changes.announce(tx)
  }

  /** Names the provider as it is asked: with another address, plan or key it may know other languages. */
  #keyOf(translation: TranslationSettings): string {
    const { provider, api_key: apiKey } = translation
    const told = createHmac('sha256', this.#keySecret)
      .update(apiKey ?? '')
      .digest('hex')
      .slice(0, 16)
    return `${provider} ${providerAddress(translation)} ${told}`
  }
}
