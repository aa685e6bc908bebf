/**
 * A histogram whose series are found once and kept. prom-client hashes labels on every observation; here an observation
 * is one addition to an array, and the labels are written when somebody asks.
 */
interface SampleValue {
  value: number
  labels: Record<string, string | number>
  metricName: string
}

export class Series {
  readonly labels: Readonly<Record<string, string>>
  readonly #buckets: readonly number[]
  /** One more than the buckets: the last is for everything slower. */
  readonly #counts: Float64Array
  #sumSeconds = 0

  constructor(labels: Readonly<Record<string, string>>, buckets: readonly number[]) {
    this.labels = labels
    this.#buckets = buckets
    this.#counts = new Float64Array(buckets.length + 1)
  }

  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0)
  }

  observe(seconds: number): void {
    const buckets = this.#buckets
    let bucket = 0
    while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1
    this.#sumSeconds += seconds
  }

  /** As prom-client's registry wants it. */
  values(name: string): SampleValue[] {
    const { labels } = this
    const values: SampleValue[] = []
    let total = 0
    this.#counts.forEach((count, index) => {
      total += count
      const le = this.#buckets[index] ?? '+Inf'
      values.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: total })
    })
    values.push({ metricName: `${name}_sum`, labels, value: this.#sumSeconds })
    values.push({ metricName: `${name}_count`, labels, value: total })
    return values
  }
}

/** Speaks the part of prom-client's metric interface that its registry needs. */
export class Timings {
  readonly name: string
  readonly #help: string
  readonly #buckets: readonly number[]
  readonly #series: Series[] = []

  constructor({ name, help, buckets }: { name: string; help: string; buckets: readonly number[] }) {
    this.name = name
    this.#help = help
    this.#buckets = buckets
  }

  /** A new one: whoever observes keeps it. */
  add(labels: Readonly<Record<string, string>>): Series {
    const series = new Series(labels, this.#buckets)
    this.#series.push(series)
    return series
  }

  all(): readonly Series[] {
    return this.#series
  }

  async get(): Promise<{ name: string; help: string; type: 'histogram'; aggregator: 'sum'; values: SampleValue[] }> {
    const values = this.#series.flatMap((series) => series.values(this.name))
    return { name: this.name, help: this.#help, type: 'histogram', aggregator: 'sum', values }
  }
}
