import type { Clock } from '../platform/clock/clock.ts'

export interface ProgressStream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

export type ProgressUnit = 'count' | 'bytes'

const BAR_CELLS = 24
const REDRAW_MS = 100
// Elsewhere than on a terminal every update is a line for good: often enough to see that it lives, no more.
const LINE_MS = 5_000
const LINE_SHARE = 0.1

/**
 * Tells a person how far long work is: one line that is redrawn on a terminal, plain lines now and then elsewhere. Goes to
 * standard error, because standard output belongs to the answer.
 */
export class Progress {
  readonly #clock: Clock
  readonly #stream: ProgressStream
  #label = ''
  #shownAt = Number.NEGATIVE_INFINITY
  #shownShare = 0
  #drawn = false

  constructor(clock: Clock, stream: ProgressStream = process.stderr) {
    this.#clock = clock
    this.#stream = stream
  }

  /** A total of 0 means that nobody knows it. A new label begins a new line. */
  report(label: string, done = 0, total = 0, unit: ProgressUnit = 'count'): void {
    const share = total > 0 ? Math.min(1, done / total) : 0
    const isNew = label !== this.#label
    const isComplete = share === 1 && this.#shownShare < 1
    const now = this.#clock.elapsedMs()
    if (isNew) this.end()
    else if (!isComplete && !this.#isTime(now, share)) return
    this.#label = label
    this.#shownAt = now
    this.#shownShare = share
    // More may come while it is counted.
    const all = total > 0 ? ` of ${amountOf(Math.max(done, total), unit)}` : ''
    const amount = all === '' && done === 0 ? '' : amountOf(done, unit) + all
    if (this.#stream.isTTY) this.#draw(label, total > 0 ? share : null, amount)
    else if (amount === '') this.#stream.write(`${label} …\n`)
    else this.#stream.write(`${label}:${total > 0 ? ` ${percent(share)}` : ''} (${amount})\n`)
  }

  /** Leaves the last state on its line; what is written next begins a new one. */
  end(): void {
    if (this.#drawn) this.#stream.write('\n')
    this.#drawn = false
    this.#label = ''
    this.#shownAt = Number.NEGATIVE_INFINITY
    this.#shownShare = 0
  }

  #isTime(now: number, share: number): boolean {
    if (this.#stream.isTTY) return now - this.#shownAt >= REDRAW_MS
    return now - this.#shownAt >= LINE_MS || share - this.#shownShare >= LINE_SHARE
  }

  #draw(label: string, share: number | null, amount: string): void {
    const full = Math.round((share ?? 0) * BAR_CELLS)
    const bar =
      share === null ? '' : ` [${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}] ${percent(share).padStart(5)}`
    const line = `${label}${bar}${amount && `  ${amount}`}`
    // A terminal that does not know its width says 0.
    this.#stream.write(`\r\u001b[2K${line.slice(0, (this.#stream.columns || 80) - 1)}`)
    this.#drawn = true
  }
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`
}

function amountOf(value: number, unit: ProgressUnit): string {
  return unit === 'bytes' ? formatBytes(value) : value.toLocaleString('en-US')
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1]
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`
}
