import { MICROS_PER_MS, MICROS_PER_SECOND, type Micros } from '../clock/clock.ts'

/** As the settings give it. A limit of 0 switches the bucket off. */
export interface BucketSettings {
  limit: number
  /** Milliseconds. */
  period: number
  /** Each process counts by itself, also where counters could be shared: for what costs less than counting together. */
  isLocal?: boolean
}

export interface Bucket {
  readonly name: string
  readonly limit: number
  readonly periodMicros: number
  readonly isLocal?: boolean
}

/** What is left of one bucket for one subject. */
export interface Allowance {
  readonly bucket: Bucket
  readonly remaining: number
  /** End of the window. */
  readonly resetAt: Micros
}

export function toBucket(name: string, { limit, period, isLocal }: BucketSettings): Bucket | undefined {
  return limit > 0 && period > 0 ? { name, limit, periodMicros: period * MICROS_PER_MS, isLocal } : undefined
}

/** Windows are fixed and aligned to the clock, so every process agrees on where one begins. */
export function windowStart(bucket: Bucket, now: Micros): Micros {
  return now - (now % bucket.periodMicros)
}

/** Whole seconds until the window ends, at least 1: a client that waits so long finds a new window. */
export function secondsLeft(allowance: Allowance, now: Micros): number {
  return Math.max(1, Math.ceil((allowance.resetAt - now) / MICROS_PER_SECOND))
}
