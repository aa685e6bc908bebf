import { type Clock, MICROS_PER_MS } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import { OutageLog } from '../../platform/logging/outage-log.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { findDestination, type StoredDestination } from '../destination/store-destinations.ts'
import type { ActiveNamespace, NamespacePolicies } from '../namespace/namespace-policies.ts'
import { Lane, type LaneSettings } from './lane.ts'
import { WakeTimer } from './wake-timer.ts'

// Beyond `idle` lanes that have nothing to do are forgotten where the destination is well, beyond `unwell` where it failed last:
// a breaker counts on, and stays open, as long as its lane is remembered.
const MOST = { idle: 1_000, unwell: 10_000 }
const CHANGED = 'callbacks.destination'
const RETRY_MS = 1_000

export type DestinationNews = 'changed' | 'reset'

interface Open {
  lane: Lane
  destination: StoredDestination
  namespace: ActiveNamespace
  /** It changed since it was read last. */
  isStale: boolean
  reading: Promise<void> | null
}

/** Which hosts the administrators of the instance let nothing be sent to. */
export interface DomainRules {
  /** In words that may be shown; null when it may be called. */
  reasonFor(host: string): string | null
  onChange(listener: () => void): () => void
}

const NO_RULES: DomainRules = { reasonFor: () => null, onChange: () => () => {} }

export interface LanesOptions {
  db: Database
  clock: Clock
  log: Logger
  namespaces: NamespacePolicies
  domains?: DomainRules | undefined
  /** Lanes without anything to do that are remembered. */
  most?: { idle: number; unwell: number } | undefined
}

/** The lanes that this process has opened, by destination. */
export class Lanes {
  /** What makes a lane go on: set by whoever runs the lanes. */
  onChange: (lane: Lane) => void = () => {}
  readonly #db: Database
  readonly #clock: Clock
  readonly #outage: OutageLog
  readonly #namespaces: NamespacePolicies
  readonly #open = new Map<number, Open>()
  /** By how they are, the longest idle first; some may have something to do again. */
  readonly #idle = new Set<number>()
  readonly #unwell = new Set<number>()
  /** How often something was announced. */
  #heard = 0
  /** They changed and could not be read yet: until they can, what was known before holds. */
  readonly #unread = new Set<number>()
  #areNamespacesUnread = false
  readonly #retry: WakeTimer
  #isClosed = false
  readonly #domains: DomainRules
  readonly #most: { idle: number; unwell: number }
  readonly #unsubscribe: () => void
  readonly #forgetRules: () => void
  readonly #forgetNamespaces: () => void

  constructor({ db, clock, log, namespaces, domains = NO_RULES, most = MOST }: LanesOptions) {
    this.#most = most
    this.#db = db
    this.#clock = clock
    this.#outage = new OutageLog(log)
    this.#retry = new WakeTimer(clock)
    this.#namespaces = namespaces
    this.#domains = domains
    this.#forgetRules = domains.onChange(() => this.#judgeAnew())
    this.#forgetNamespaces = namespaces.onChange(() => void this.#readNamespaces())
    this.#unsubscribe = db.subscribe(CHANGED, (text) => void this.#hear(text))
  }

  find(destinationId: number): Lane | undefined {
    return this.#open.get(destinationId)?.lane
  }

  all(): Lane[] {
    return [...this.#open.values()].map(({ lane }) => lane)
  }

  /** Undefined when the destination is gone. One that is handed out is remembered until `rest` is told of it. */
  async load(destinationId: number): Promise<Lane | undefined> {
    for (;;) {
      const known = this.find(destinationId)
      if (known !== undefined) return this.#keep(known)
      const heard = this.#heard
      const destination = await findDestination(this.#db, destinationId)
      const namespace = destination && (await this.#namespaces.findById(destination.namespaceId))
      if (!namespace) return undefined
      // Somebody else may have come first meanwhile, or a change.
      const lane = this.#keep(this.find(destinationId) ?? this.#add({ destination, namespace }))
      if (this.#heard === heard) return lane
      await this.refresh(destinationId, 'changed')
    }
  }

  /** Why somebody decided that nothing is sent to a destination, null when nobody did; also without a lane. */
  heldBy({ destination, isPaused }: Pick<StoredDestination, 'destination' | 'isPaused'>): string | null {
    if (isPaused) return `destination ${destination} is paused`
    return this.#domains.reasonFor(new URL(destination).hostname)
  }

  /** The namespace as it is at this moment: what it says holds for the next decision. */
  use(lane: Lane, namespace: ActiveNamespace): void {
    const open = this.#open.get(lane.destinationId)
    if (open === undefined || open.namespace === namespace) return
    open.namespace = namespace
    lane.settings = this.#settingsOf(open)
  }

  /** To be told whenever a lane may have nothing to do any more. Forgets such lanes, the longest idle first. */
  rest(lane: Lane): void {
    if (!lane.isIdle) return
    const id = lane.destinationId
    const isWell = lane.breaker.isPristine
    this.#keep(lane)
    if (isWell) this.#idle.add(id)
    else this.#unwell.add(id)
    this.#forget(isWell ? this.#idle : this.#unwell, isWell ? this.#most.idle : this.#most.unwell)
  }

  #keep(lane: Lane): Lane {
    this.#idle.delete(lane.destinationId)
    this.#unwell.delete(lane.destinationId)
    return lane
  }

  #forget(ids: Set<number>, most: number): void {
    for (const id of ids) {
      if (ids.size <= most) return
      ids.delete(id)
      const lane = this.find(id)
      if (!lane?.isIdle) continue
      lane.close()
      this.#open.delete(id)
    }
  }

  /** Part of every change of a destination; every process hears it. `reset`: the breaker closes. */
  announce(tx: Transaction, destinationId: number, news: DestinationNews): void {
    tx.signal(CHANGED, `${destinationId} ${news}`)
  }

  /** Takes over what was announced. Who made the change need not wait until it is heard here. */
  async refresh(destinationId: number, news: DestinationNews): Promise<void> {
    const open = this.#open.get(destinationId)
    if (open === undefined) return
    if (news === 'reset') open.lane.breaker.reset()
    open.isStale = true
    // One at a time: of two that are read at once, the older might be taken over last.
    open.reading ??= this.#read(open)
    await open.reading
  }

  close(): void {
    this.#isClosed = true
    this.#retry.stop()
    this.#unsubscribe()
    this.#forgetRules()
    this.#forgetNamespaces()
  }

  async #read(open: Open): Promise<void> {
    const { destinationId } = open.lane
    try {
      while (open.isStale) {
        open.isStale = false
        open.destination = (await findDestination(this.#db, destinationId)) ?? open.destination
      }
    } catch (error) {
      if (this.#readLater(error)) this.#unread.add(destinationId)
    }
    open.reading = null
    open.lane.settings = this.#settingsOf(open)
    this.onChange(open.lane)
  }

  /** A lane may wait for a limit that does not hold any more, and no attempt of its own would find that out. */
  async #readNamespaces(): Promise<void> {
    this.#areNamespacesUnread = false
    try {
      for (const { lane, namespace } of [...this.#open.values()]) {
        const now = await this.#namespaces.findById(namespace.id)
        if (now === null || now === namespace) continue
        this.use(lane, now)
        this.onChange(lane)
      }
    } catch (error) {
      this.#areNamespacesUnread = this.#readLater(error)
    }
  }

  /** False when nothing is read any more. */
  #readLater(error: unknown): boolean {
    if (this.#isClosed) return false
    this.#outage.tell({ err: error }, 'what changed of destinations cannot be read; trying again until that works')
    this.#retry.wakeAt(this.#clock.now() + RETRY_MS * MICROS_PER_MS, () => void this.#readUnread())
    return true
  }

  async #readUnread(): Promise<void> {
    const ids = [...this.#unread]
    this.#unread.clear()
    for (const id of ids) await this.refresh(id, 'changed')
    if (this.#areNamespacesUnread) await this.#readNamespaces()
    if (this.#unread.size === 0 && !this.#areNamespacesUnread) {
      this.#outage.over('what changed of destinations is read again')
    }
  }

  #judgeAnew(): void {
    for (const open of this.#open.values()) {
      const heldBy = this.heldBy(open.destination)
      if (heldBy === open.lane.settings.heldBy) continue
      open.lane.settings = { ...open.lane.settings, heldBy }
      this.onChange(open.lane)
    }
  }

  async #hear(text: string): Promise<void> {
    this.#heard++
    const [id, news] = text.split(' ')
    // Nothing in it: signals may have been missed.
    const ids = text === '' ? [...this.#open.keys()] : [Number(id)]
    for (const each of ids) await this.refresh(each, news === 'reset' ? 'reset' : 'changed')
  }

  #add(facts: { destination: StoredDestination; namespace: ActiveNamespace }): Lane {
    const lane = new Lane(facts.destination, this.#clock, this.#settingsOf(facts))
    this.#open.set(facts.destination.id, { ...facts, lane, isStale: false, reading: null })
    return lane
  }

  #settingsOf({ destination, namespace }: Pick<Open, 'destination' | 'namespace'>): LaneSettings {
    const { policy } = namespace
    return {
      namespace: namespace.name,
      limits: {
        concurrency: destination.concurrency ?? policy.destination.concurrency,
        rps: destination.rps ?? policy.destination.rps,
      },
      breaker: policy.breaker,
      heldBy: this.heldBy(destination),
      requestTimeoutMs: policy.request_timeout,
    }
  }
}
