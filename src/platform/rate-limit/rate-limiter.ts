/**
 * Fixed-window rate limits with named buckets. On SQLite there is one process and memory is the truth; on PostgreSQL
 * the counters are shared.
 *
 * When storage does not answer, this process counts by itself until it does: refusing everybody would turn a
 * hiccup of the database into an outage, and letting everybody through would take the protection away when the
 * database needs it most.
 */
import { type Clock, MICROS_PER_SECOND, type Micros } from '../clock/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../storage/database.ts'
import { type Allowance, type Bucket, type BucketSettings, toBucket, windowStart } from './bucket.ts'
import { MemoryWindows } from './memory-windows.ts'
import { SharedWindows } from './shared-windows.ts'

export interface Spend {
  /** The name of one of the buckets of the settings, or one whose size the caller knows at this moment. */
  bucket: string | Bucket
  /** Whose counter it is: a user, a credential, an address. */
  subject: string
  /** 1 unless one request does the work of several. */
  cost?: number
}

export interface Verdict {
  readonly allowed: boolean
  /** Of the limits that apply the one with the fewest left, or the one that refused; null when none applies. */
  readonly tightest: Allowance | null
}

export interface RateLimiterOptions {
  buckets: Readonly<Record<string, BucketSettings>>
  clock: Clock
  log: Logger
  /** Counters are shared through it when it is PostgreSQL. */
  db?: Database
}

const UNLIMITED: Verdict = { allowed: true, tightest: null }
const WARN_EVERY = 60 * MICROS_PER_SECOND

interface Claim {
  bucket: Bucket
  start: Micros
  subject: string
  cost: number
}

export class RateLimiter {
  readonly #buckets = new Map<string, Bucket>()
  readonly #clock: Clock
  readonly #log: Logger
  readonly #memory = new MemoryWindows()
  readonly #shared: SharedWindows | null
  #warnedAt = 0

  constructor({ buckets, clock, log, db }: RateLimiterOptions) {
    for (const [name, settings] of Object.entries(buckets)) {
      const bucket = toBucket(name, settings)
      if (bucket !== undefined) this.#buckets.set(name, bucket)
    }
    this.#clock = clock
    this.#log = log
    this.#shared = db?.engine === 'postgres' ? new SharedWindows(db, log) : null
  }

  isOn(bucket: string): boolean {
    return this.#buckets.has(bucket)
  }

  /** Counts the request against all that apply, or against none when one of them has no room. */
  spend(spends: readonly Spend[]): Verdict | Promise<Verdict> {
    const now = this.#clock.now()
    const claims: Claim[] = []
    for (const { bucket: given, subject, cost = 1 } of spends) {
      const bucket = typeof given === 'string' ? this.#buckets.get(given) : given
      if (bucket !== undefined) claims.push({ bucket, start: windowStart(bucket, now), subject, cost })
    }
    if (claims.length === 0) return UNLIMITED
    const shared = claims.every(({ bucket }) => bucket.isLocal) ? null : this.#shared
    return shared === null ? this.#spendHere(claims) : this.#spendShared(claims, shared)
  }

  #spendHere(claims: Claim[]): Verdict {
    const memory = this.#memory
    for (const claim of claims) {
      const used = memory.used(claim.bucket, claim.start, claim.subject)
      if (used + claim.cost > claim.bucket.limit) return { allowed: false, tightest: allowance(claim, used) }
    }
    let tightest: Allowance | null = null
    for (const claim of claims) {
      const used = memory.used(claim.bucket, claim.start, claim.subject) + claim.cost
      memory.set(claim.bucket, claim.start, claim.subject, used)
      tightest = tighter(tightest, allowance(claim, used))
    }
    return { allowed: true, tightest }
  }

  async #spendShared(claims: Claim[], shared: SharedWindows): Promise<Verdict> {
    for (const claim of claims) {
      const used = shared.seen(claim.bucket, claim.start, claim.subject)
      if (used + claim.cost > claim.bucket.limit) return { allowed: false, tightest: allowance(claim, used) }
    }
    try {
      let tightest: Allowance | null = null
      for (const claim of claims) {
        const { fits, used } = await shared.spend(claim.bucket, claim.start, claim.subject, claim.cost)
        // NOTE What was counted before in other buckets stays counted: giving it back would cost every request a transaction.
        if (!fits) return { allowed: false, tightest: allowance(claim, used) }
        tightest = tighter(tightest, allowance(claim, used))
      }
      return { allowed: true, tightest }
    } catch (error) {
      this.#warn(error)
      return this.#spendHere(claims)
    }
  }

  #warn(error: unknown): void {
    const now = this.#clock.now()
    if (now - this.#warnedAt < WARN_EVERY) return
    this.#warnedAt = now
    this.#log.warn({ err: error }, 'shared rate limits are out of reach; this process counts by itself')
  }
}

function allowance({ bucket, start }: Claim, used: number): Allowance {
  return { bucket, remaining: Math.max(0, bucket.limit - used), resetAt: start + bucket.periodMicros }
}

function tighter(a: Allowance | null, b: Allowance): Allowance {
  return a === null || b.remaining < a.remaining ? b : a
}
