import type { Clock, Micros } from '../../platform/clock/clock.ts'
import type { Reader } from '../../platform/storage/database.ts'
import type { ContactReader } from '../contact/contact-reader.ts'
import { readDocument, readInstalledAt } from '../documents/store-documents.ts'
import { readTerms } from '../documents/store-terms.ts'
import { readPeers } from '../domains/peers.ts'
import { readListedBlocks } from '../domains/store-blocks.ts'
import { callbackHostsMark } from '../domains/store-callback-hosts.ts'
import { readDomainNames } from '../domains/store-named-domains.ts'
import { readImages } from '../images/store-images.ts'
import { instanceDomain } from '../instance-domain.ts'
import type { NumbersReader } from '../numbers/numbers-reader.ts'
import { readRules } from '../rules/store-rules.ts'
import type { SettingsKeeper } from '../settings/settings-keeper.ts'
import type { InstanceSettings } from '../settings.ts'
import type { TranslationLanguages } from '../translation/languages.ts'
import type { TranslationService } from '../translation/translation-service.ts'
import type { InstanceData, InstanceNumbers, ListedBlock } from './instance-data.ts'
import { mayEverybodyInvite } from './store-invites.ts'

export interface InstanceReaderOptions {
  clock: Clock
  keeper: SettingsKeeper
  contact: ContactReader
  numbers: NumbersReader
  translation: TranslationService
  baseUrl(): string
}

/** What may be long, and is read anew only when it may have changed. */
export interface DomainLists {
  blocks: readonly ListedBlock[]
  allowed: readonly string[]
  peers: readonly string[]
  /** Of the hosts among the peers that no administrator named; null when there are none. */
  hostsMark: string | null
}

export interface DataWish {
  /** Counts the changes of administrators. */
  version: number
  vapidPublicKey: string
  /** Read after the last change of an administrator: what only they change is taken over. */
  decided?: DecidedData
  /** Counts that are taken over. */
  counted?: InstanceNumbers
}

/** What stays until an administrator changes it. */
export type DecidedData = Omit<InstanceData, 'contact' | 'invitesEnabled' | 'numbers'>

/** Reads all that the public face is made from, through the stores of the parts that it belongs to. */
export class InstanceReader {
  readonly #options: InstanceReaderOptions
  #named: { domain: string; since: Micros } | undefined

  constructor(options: InstanceReaderOptions) {
    this.#options = options
  }

  async readData(snapshot: Reader, wish: DataWish): Promise<InstanceData> {
    const { contact, numbers } = this.#options
    const { version, vapidPublicKey, decided = await this.#readDecided(snapshot, vapidPublicKey), counted } = wish
    const { settings } = decided
    return {
      ...decided,
      contact: await contact.readContact(snapshot, settings),
      invitesEnabled: await mayEverybodyInvite(snapshot),
      numbers: counted ?? (await numbers.readNumbers(snapshot, settings, version)),
    }
  }

  async #readDecided(snapshot: Reader, vapidPublicKey: string): Promise<DecidedData> {
    const { thumbnail, icon } = await readImages(snapshot)
    const settings = await this.#options.keeper.effectiveSettings(snapshot)
    return {
      settings,
      namedSince: this.#namedSince(settings),
      installedAt: await readInstalledAt(snapshot),
      rules: await readRules(snapshot),
      extendedDescription: await readDocument(snapshot, 'extended_description'),
      privacyPolicy: await readDocument(snapshot, 'privacy_policy'),
      terms: await readTerms(snapshot),
      thumbnail,
      icon,
      vapidPublicKey,
    }
  }

  #namedSince(settings: InstanceSettings): Micros {
    const { clock, baseUrl } = this.#options
    const domain = instanceDomain(settings, baseUrl())
    if (this.#named?.domain !== domain) this.#named = { domain, since: clock.now() }
    return this.#named.since
  }

  /** To be awaited before a snapshot is opened whose counts are to be of this moment. */
  settle(): Promise<void> {
    return this.#options.numbers.settle()
  }

  async readLists(snapshot: Reader, settings: InstanceSettings): Promise<DomainLists> {
    const hostsMark = await this.hostsMark(snapshot, settings)
    return {
      blocks: await readListedBlocks(snapshot),
      allowed: (await readDomainNames(snapshot, 'domain_allows')).sort(),
      peers: await readPeers(snapshot, settings, instanceDomain(settings, this.#options.baseUrl())),
      hostsMark,
    }
  }

  async hostsMark(snapshot: Reader, settings: InstanceSettings): Promise<string | null> {
    return settings.peers.sources.includes('callbacks') ? callbackHostsMark(snapshot) : null
  }

  readLanguages(snapshot: Reader, settings: InstanceSettings): Promise<TranslationLanguages | undefined> {
    return this.#options.translation.readLanguages(snapshot, settings)
  }
}
