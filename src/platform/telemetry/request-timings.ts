/**
 * The histogram of HTTP requests. prom-client hashes labels on every observation; the labels here are known when a
 * route is made, so an observation is one addition to an array and the labels are written when somebody asks.
 */
const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60]
const STATUS_CLASSES = 6

interface Series {
  /** One more than the buckets: the last is for everything slower. */
  readonly counts: Float64Array
  sumSeconds: number
}

interface SampleValue {
  value: number
  labels: Record<string, string | number>
  metricName: string
}

/** The series of one operation, one for each class of status. */
export class OperationTimings {
  readonly operation: string
  readonly series: (Series | undefined)[] = new Array(STATUS_CLASSES).fill(undefined)

  constructor(operation: string) {
    this.operation = operation
  }

  observe(status: number, milliseconds: number): void {
    const index = Math.min(STATUS_CLASSES - 1, Math.trunc(status / 100))
    let series = this.series[index]
    if (series === undefined) {
      series = { counts: new Float64Array(BUCKETS_SECONDS.length + 1), sumSeconds: 0 }
      this.series[index] = series
    }
    const seconds = milliseconds / 1000
    let bucket = 0
    while (bucket < BUCKETS_SECONDS.length && seconds > (BUCKETS_SECONDS[bucket] as number)) bucket++
    series.counts[bucket] = (series.counts[bucket] as number) + 1
    series.sumSeconds += seconds
  }
}

/** Speaks the part of prom-client's metric interface that its registry needs. */
export class RequestTimings {
  readonly name = 'http_request_duration_seconds'
  readonly #operations = new Map<string, OperationTimings>()

  of(operation: string): OperationTimings {
    let timings = this.#operations.get(operation)
    if (timings === undefined) {
      timings = new OperationTimings(operation)
      this.#operations.set(operation, timings)
    }
    return timings
  }

  async get(): Promise<{ name: string; help: string; type: 'histogram'; aggregator: 'sum'; values: SampleValue[] }> {
    const values: SampleValue[] = []
    for (const { operation, series } of this.#operations.values()) {
      series.forEach((one, index) => {
        if (one !== undefined) this.#write(values, { operation, status: `${index}xx` }, one)
      })
    }
    const help = 'How long requests took, by operation and class of status.'
    return { name: this.name, help, type: 'histogram', aggregator: 'sum', values }
  }

  #write(values: SampleValue[], labels: Record<string, string>, { counts, sumSeconds }: Series): void {
    let total = 0
    counts.forEach((count, index) => {
      total += count
      const le = BUCKETS_SECONDS[index] ?? '+Inf'
      values.push({ metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: total })
    })
    values.push({ metricName: `${this.name}_sum`, labels, value: sumSeconds })
    values.push({ metricName: `${this.name}_count`, labels, value: total })
  }
}
