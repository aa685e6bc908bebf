import { MICROS_PER_SECOND } from '../../platform/clock/clock.ts'
import type { Logger } from '../../platform/logging/logger.ts'
import { Counter, type Metric, type Metrics } from '../../platform/telemetry/metrics.ts'
import { type Series, Timings } from '../../platform/telemetry/timings.ts'
import { loggedProblem } from '../destination/answer/verdict.ts'
import type { BreakerChange } from '../destination/breaker.ts'
import type { NamespacePolicies } from '../namespace/namespace-policies.ts'
import type { StoredRun } from '../run/run.ts'
import type { RunWatch } from '../run/run-watch.ts'
import type { Changed } from '../state/run-event.ts'
import type { Attempted } from './attempter.ts'
import type { Lane } from './lane.ts'

export interface DeliveryEventsOptions {
  log: Logger
  metrics: Metrics
  watch: RunWatch
  namespaces: Pick<NamespacePolicies, 'findById'>
}

// Whoever starts callbacks names their destinations: beyond this number they are counted together.
const MOST_DESTINATIONS = 1_000
// Of which no destination has a name of its own. Namespaces may be made and deleted without end, and what was counted stays.
const MOST_NAMESPACES = 1_000
const OTHER = 'other'

/** Tells everybody who wants to know what happens: metrics, the log, and who waits for a run. */
export class DeliveryEvents {
  readonly #log: Logger
  readonly #watch: RunWatch
  readonly #namespaces: DeliveryEventsOptions['namespaces']
  readonly #timings = new Timings({
    name: 'callback_outbound_latency',
    help: 'Seconds from the start of an attempt to the end of its answer.',
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 10, 60],
  })
  readonly #series = new Map<string, Series>()
  readonly #named = new Set<string>()
  readonly #namedTogether = new Set<string>()
  /** What came of attempts at one destination is mostly the same. */
  readonly #last = new WeakMap<Lane, { namespace: string; outcome: string; series: Series }>()

  constructor({ log, metrics, watch, namespaces }: DeliveryEventsOptions) {
    this.#log = log
    this.#watch = watch
    this.#namespaces = namespaces
    const timings = this.#timings
    metrics.registry.registerMetric(timings as unknown as Metric)
    new Counter({
      name: 'callback_outbound_requests',
      help: 'Attempts to deliver a callback, by namespace, destination and outcome.',
      labelNames: ['namespace', 'destination', 'outcome'],
      registers: [metrics.registry],
      collect() {
        this.reset()
        for (const { labels, count } of timings.all()) this.inc(labels, count)
      },
    })
  }

  attempted(lane: Lane, { log, verdict }: Attempted, change: BreakerChange): void {
    this.#seriesOf(lane, verdict.label).observe((log.endedAt - log.startedAt) / MICROS_PER_SECOND)
    if (change === null) return
    const facts = { namespace: lane.namespace, destination: lane.destination, event: EVENTS[change] }
    if (change === 'closed') this.#log.info(facts, 'a destination works again')
    else
      this.#log.warn({ ...facts, problem: loggedProblem(verdict) }, 'a destination fails and is left alone for a while')
  }

  /** Stored: this is how it is now. */
  settled(lane: Lane, run: StoredRun, { transition, record }: Changed): void {
    this.#watch.notify(run.runNumber)
    const facts = { namespace: lane.namespace, callbackId: run.callbackId, runId: run.runId, attempts: record.attempt }
    if (transition === 'use_up_attempts') {
      this.#log.warn({ ...facts, event: 'callback.exhausted' }, 'a callback has used up its attempts')
    } else if (transition === 'fail') {
      this.#log.warn({ ...facts, event: 'callback.failed' }, 'a callback was refused for good')
    } else if (transition === 'succeed' && run.record.attempt > 0) {
      this.#log.info({ ...facts, event: 'callback.recovered' }, 'a callback arrived after failed attempts')
    }
  }

  timedOut(run: StoredRun): void {
    this.#watch.notify(run.runNumber)
    void this.#tellTimedOut(run)
  }

  scheduled(run: StoredRun): void {
    this.#watch.notify(run.runNumber)
  }

  /** It may have no lane here, which would know the namespace. An id alone names no callback. */
  async #tellTimedOut({ namespaceId, callbackId, runId, record }: StoredRun): Promise<void> {
    const found = await this.#namespaces.findById(namespaceId).catch(() => null)
    const facts = { namespace: found?.name, callbackId, runId, attempts: record.attempt }
    this.#log.warn({ ...facts, event: 'callback.timed_out' }, 'a callback did not arrive in its time')
  }

  #seriesOf(lane: Lane, outcome: string): Series {
    const { namespace } = lane
    const last = this.#last.get(lane)
    if (last !== undefined && last.outcome === outcome && last.namespace === namespace) return last.series
    const series = this.#findSeries(lane, outcome)
    this.#last.set(lane, { namespace, outcome, series })
    return series
  }

  #findSeries(lane: Lane, outcome: string): Series {
    const destination = this.#nameOf(lane)
    const namespace = destination === OTHER ? this.#namespaceOf(lane) : lane.namespace
    const key = `${namespace} ${destination} ${outcome}`
    let series = this.#series.get(key)
    if (series === undefined) {
      series = this.#timings.add({ namespace, destination, outcome })
      this.#series.set(key, series)
    }
    return series
  }

  #nameOf({ namespace, destination }: Lane): string {
    const key = `${namespace} ${destination}`
    if (this.#named.has(key)) return destination
    if (this.#named.size >= MOST_DESTINATIONS) return OTHER
    this.#named.add(key)
    return destination
  }

  #namespaceOf({ namespace }: Lane): string {
    if (this.#namedTogether.has(namespace)) return namespace
    if (this.#namedTogether.size >= MOST_NAMESPACES) return OTHER
    this.#namedTogether.add(namespace)
    return namespace
  }
}

const EVENTS = {
  opened: 'destination.unhealthy',
  reopened: 'destination.unhealthy',
  closed: 'destination.recovered',
} as const
