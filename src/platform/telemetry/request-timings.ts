import { type Series, Timings } from './timings.ts'

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60]
const STATUS_CLASSES = 6

/** The series of one operation, one for each class of status. */
class OperationTimings {
  readonly #timings: Timings
  readonly #operation: string
  readonly #series: (Series | undefined)[] = new Array(STATUS_CLASSES).fill(undefined)

  constructor(timings: Timings, operation: string) {
    this.#timings = timings
    this.#operation = operation
  }

  observe(status: number, milliseconds: number): void {
    const index = Math.min(STATUS_CLASSES - 1, Math.trunc(status / 100))
    let series = this.#series[index]
    if (series === undefined) {
      series = this.#timings.add({ operation: this.#operation, status: `${index}xx` })
      this.#series[index] = series
    }
    series.observe(milliseconds / 1000)
  }
}

/** The histogram of HTTP requests, whose labels are known when a route is made. */
export class RequestTimings extends Timings {
  readonly #operations = new Map<string, OperationTimings>()

  constructor() {
    const help = 'How long requests took, by operation and class of status.'
    super({ name: 'http_request_duration_seconds', help, buckets: BUCKETS_SECONDS })
  }

  of(operation: string): OperationTimings {
    let timings = this.#operations.get(operation)
    if (timings === undefined) {
      timings = new OperationTimings(this, operation)
      this.#operations.set(operation, timings)
    }
    return timings
  }
}
