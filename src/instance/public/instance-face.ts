/**
 * What the public face shows, from memory. A view is read in one snapshot and stays until an administrator changes
 * something, here or in another process; its counts stay for `cache.counter_seconds`. A question that finds a good view
 * is answered without a promise and without a query.
 *
 * NOTE A view is never handed out to somebody who asks after a change was announced unless its reading began after it.
 */
import type { IdentityChanges } from '../../platform/auth/identity-changes.ts'
import { type Clock, MICROS_PER_SECOND, type Micros } from '../../platform/clock/clock.ts'
import { ignoreFailure } from '../../platform/errors/ignore-failure.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import type { Database } from '../../platform/storage/database.ts'
import type { InstanceChanges } from '../changes.ts'
import type { TranslationLanguages } from '../translation/languages.ts'
import { dateAt } from './account-document.ts'
import type { InstanceData } from './instance-data.ts'
import type { DomainLists, InstanceReader } from './instance-reader.ts'

export interface InstanceView {
  readonly data: InstanceData
  readonly lists: DomainLists
  /** Undefined while the provider was never reached. */
  readonly languages: TranslationLanguages | undefined
  /** The day, UTC, that it was read on: `YYYY-MM-DD`. It is not used on another. */
  readonly today: string
}

interface KeptView extends InstanceView {
  versions: Versions
  /** When the reading of its counts began. */
  countedMs: number
  endsAt: Micros
}

/** How many changes were announced when the reading began. */
interface Versions {
  instance: number
  people: number
}

export interface InstanceFaceOptions {
  db: Database
  clock: Clock
  log: Logger
  changes: InstanceChanges
  identityChanges: IdentityChanges
  reader: InstanceReader
  vapidKey(): Promise<string>
}

const MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND
/** From this part of its age on, counts are read again while the old ones are still good, so that nobody waits. */
const AHEAD = 0.8

export class InstanceFace {
  readonly #options: InstanceFaceOptions
  readonly #versions: Versions = { instance: 0, people: 0 }
  readonly #unlisten: (() => void)[]
  #kept: KeptView | undefined
  #reading: { versions: Versions; counts: boolean; view: Promise<KeptView> } | undefined

  constructor(options: InstanceFaceOptions) {
    this.#options = options
    this.#unlisten = [
      options.changes.listen(() => {
        this.#versions.instance++
      }),
      options.identityChanges.listen(() => {
        this.#versions.people++
      }),
    ]
  }

  /** For what only an administrator changes. */
  settled(): InstanceView | Promise<InstanceView> {
    return this.peekSettled() ?? this.#read(true)
  }

  /** Undefined when it has to be read. */
  peekSettled(): InstanceView | undefined {
    const view = this.#kept
    if (view?.versions.instance !== this.#versions.instance) return undefined
    return this.#options.clock.now() < view.endsAt ? view : undefined
  }

  /** For what is counted as well, or tells of a user. */
  counted(): InstanceView | Promise<InstanceView> {
    return this.peekCounted() ?? this.#read(!this.#areCountsGood())
  }

  /** Undefined when it has to be read. */
  peekCounted(): InstanceView | undefined {
    const view = this.peekSettled()
    if (view === undefined || this.#kept?.versions.people !== this.#versions.people || !this.#areCountsGood()) {
      return undefined
    }
    if (this.#countsLeftMs() <= this.#maxAgeMs() * (1 - AHEAD) && this.#reading === undefined) {
      ignoreFailure(this.#read(true), 'the counts are read again by whoever asks next', this.#options.log)
    }
    return view
  }

  #areCountsGood(): boolean {
    return this.peekSettled() !== undefined && this.#countsLeftMs() > 0
  }

  #countsLeftMs(): number {
    const countedMs = this.#kept?.countedMs ?? Number.NEGATIVE_INFINITY
    return countedMs + this.#maxAgeMs() - this.#options.clock.elapsedMs()
  }

  #maxAgeMs(): number {
    return (this.#kept?.data.settings.cache.counter_seconds ?? 0) * 1_000
  }

  close(): void {
    for (const unlisten of this.#unlisten) unlisten()
  }

  /** Joins a reading that is under way when it will be as new as is wanted. */
  #read(counts: boolean): Promise<KeptView> {
    const { instance, people } = this.#versions
    const current = this.#reading
    // Before the first view nobody knows how long counts are kept, and all who wait for it want the same.
    const isCached = this.#kept === undefined || this.#maxAgeMs() > 0
    if (
      current !== undefined &&
      isCached &&
      current.versions.instance === instance &&
      current.versions.people === people &&
      (current.counts || !counts)
    ) {
      return current.view
    }
    const versions = { instance, people }
    const view = this.#readView(versions, counts).finally(() => {
      if (this.#reading?.view === view) this.#reading = undefined
    })
    this.#reading = { versions, counts, view }
    return view
  }

  async #readView(versions: Versions, counts: boolean): Promise<KeptView> {
    const { db, clock, reader, vapidKey } = this.#options
    const before = this.#kept
    const vapidPublicKey = await vapidKey()
    if (counts) await reader.settle()
    const isRecount = counts || before === undefined
    const countedMs = isRecount ? clock.elapsedMs() : before.countedMs
    const now = clock.now()
    const same = before?.versions.instance === versions.instance ? before : undefined
    const view = await db.read(async (snapshot) => {
      const counted = isRecount ? undefined : before.data.numbers
      const wish = { version: versions.instance, vapidPublicKey, decided: same?.data, counted }
      const data = await reader.readData(snapshot, wish)
      const { settings } = data
      const areListsGood = same !== undefined && same.lists.hostsMark === (await reader.hostsMark(snapshot, settings))
      return {
        data,
        lists: areListsGood ? same.lists : await reader.readLists(snapshot, settings),
        languages: same === undefined ? await reader.readLanguages(snapshot, settings) : same.languages,
        versions,
        countedMs,
        today: dateAt(now),
        endsAt: now - (now % MICROS_PER_DAY) + MICROS_PER_DAY,
      }
    })
    const kept = this.#kept
    if (kept === undefined || isNewer(view, kept)) this.#kept = view
    return view
  }
}

function isNewer(a: KeptView, b: KeptView): boolean {
  return (
    a.versions.instance >= b.versions.instance && a.versions.people >= b.versions.people && a.countedMs >= b.countedMs
  )
}
