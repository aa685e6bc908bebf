import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Clock } from '../clock/clock.ts'
import { answeredSoon } from '../telemetry/answered-soon.ts'
import type { JobEngineOptions } from './job-engine.ts'
import type { JobStatistics } from './store-statistics.ts'

export interface JobMetrics {
  onOutcome: NonNullable<JobEngineOptions['onOutcome']>
  /** The queue is asked when the metrics are read, not before. */
  watch(statistics: () => Promise<JobStatistics[]>): void
}

/** The numbers of one engine in the registry of its server. Kinds are fixed in the code, so the labels are bounded. */
export function observeJobs(registry: Registry, clock: Clock): JobMetrics {
  const registers = [registry]
  const runs = new Counter({
    name: 'commonplace_job_runs_total',
    help: 'Runs of jobs by kind and outcome (done, again, retry, dead, released, lost).',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: 'commonplace_job_run_duration_seconds',
    help: 'Time from the start of a handler until its job was settled.',
    labelNames: ['kind'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2, 10, 60, 600],
    registers,
  })
  return {
    onOutcome({ kind, outcome, durationMs }) {
      runs.inc({ kind, outcome })
      durations.observe({ kind }, durationMs / 1_000)
    },
    watch: (statistics) => watchQueue(registry, clock, statistics),
  }
}

function watchQueue(registry: Registry, clock: Clock, statistics: () => Promise<JobStatistics[]>): void {
  let asked: Promise<JobStatistics[]> | null = null
  // Both are collected at the same time: they share one question, and neither tells what the other found the last time.
  async function askOnce(): Promise<JobStatistics[]> {
    asked ??= statistics().finally(() => {
      asked = null
    })
    return (await answeredSoon(clock, asked)) ?? []
  }
  new Gauge({
    name: 'commonplace_jobs_first_due_timestamp_seconds',
    help: 'When the first waiting job is due; in the past when jobs are late.',
    labelNames: ['kind'],
    registers: [registry],
    async collect() {
      const kinds = await askOnce()
      this.reset()
      for (const { kind, firstDueAt } of kinds) if (firstDueAt !== null) this.set({ kind }, firstDueAt / 1_000_000)
    },
  })
  new Gauge({
    name: 'commonplace_jobs',
    help: 'Jobs in the queue by kind and state, each counted to 10000 at most.',
    labelNames: ['kind', 'state'],
    registers: [registry],
    async collect() {
      const kinds = await askOnce()
      this.reset()
      for (const { kind, waiting, running, dead } of kinds) {
        this.set({ kind, state: 'waiting' }, waiting)
        this.set({ kind, state: 'running' }, running)
        this.set({ kind, state: 'dead' }, dead)
      }
    },
  })
}
