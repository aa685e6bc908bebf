/** One benchmark. A file in bench/scenarios/ named after it exports one as `scenario`. */
export interface Scenario {
  description: string
  run(say: (line: string) => void): Promise<Measurement>
}

export interface Measurement {
  /** What the table shows. */
  columns: string[]
  rows: (string | number | null)[][]
  /** What the project promised to reach. */
  targets: Target[]
  /** Whatever else is worth keeping for a later comparison. */
  details?: Record<string, unknown>
}

export interface Target {
  name: string
  value: number
  unit: string
  /** One of the two. */
  atLeast?: number
  below?: number
}

export function isMet({ value, atLeast, below }: Target): boolean {
  return (atLeast === undefined || value >= atLeast) && (below === undefined || value < below)
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] as number
}
