import { type Clock, MICROS_PER_SECOND } from '../../platform/clock/clock.ts'
import type { Database } from '../../platform/storage/database.ts'
import { answeredSoon } from '../../platform/telemetry/answered-soon.ts'
import { Gauge, type Metrics } from '../../platform/telemetry/metrics.ts'
import type { Lanes } from '../deliver/lanes.ts'
import type { BreakerState } from '../destination/breaker.ts'
import { firstDueAt, runningCounts } from './store-gauges.ts'

export interface GaugesOptions {
  db: Database
  clock: Clock
  lanes: Lanes
  metrics: Metrics
}

const STATES: Record<BreakerState, number> = { closed: 0, half_open: 1, open: 2 }
// Whoever starts callbacks names their destinations: beyond this number they are told together.
const MOST_DESTINATIONS = 1_000
const OTHER = 'other'

/** How things stand, looked up when the metrics are read and not before. */
export function registerGauges({ db, clock, lanes, metrics }: GaugesOptions): void {
  const registers = [metrics.registry]

  new Gauge({
    name: 'callback_executions_running',
    help: 'Running callback executions by state (SCHEDULED, BACKING_OFF), each counted to 10000 at most.',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset()
      const counts = await answeredSoon(clock, runningCounts(db))
      if (counts === undefined) return
      this.set({ state: 'SCHEDULED' }, counts.scheduled)
      this.set({ state: 'BACKING_OFF' }, counts.backingOff)
    },
  })

  new Gauge({
    name: 'callback_oldest_overdue_attempt_seconds',
    help: 'How long ago the attempt fell due that waits longest; 0 when none is late.',
    registers,
    async collect() {
      // A reset would say that nothing is late.
      this.remove()
      const at = await answeredSoon(clock, firstDueAt(db))
      if (at !== undefined) this.set(at === null ? 0 : Math.max(0, clock.now() - at) / MICROS_PER_SECOND)
    },
  })

  new Gauge({
    name: 'callback_breaker_state',
    help: 'Breaker of each destination that this process attends to: 0 is closed, 1 half-open, 2 open.',
    labelNames: ['namespace', 'destination'],
    registers,
    collect() {
      this.reset()
      for (const { namespace, destination, value } of breakers(lanes)) this.set({ namespace, destination }, value)
    },
  })
}

interface ShownBreaker {
  namespace: string
  destination: string
  value: number
}

/** The worst first: those are told by name. */
function breakers(lanes: Lanes): ShownBreaker[] {
  const all = lanes
    .all()
    .map(({ namespace, destination, breaker }) => ({ namespace, destination, value: STATES[breaker.state] }))
  if (all.length <= MOST_DESTINATIONS) return all
  all.sort((a, b) => b.value - a.value)
  const others = new Map<string, ShownBreaker>()
  for (const { namespace, value } of all.slice(MOST_DESTINATIONS)) {
    // In this order the first of a namespace is its worst.
    if (!others.has(namespace)) others.set(namespace, { namespace, destination: OTHER, value })
  }
  return [...all.slice(0, MOST_DESTINATIONS), ...others.values()]
}
