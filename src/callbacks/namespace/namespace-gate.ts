import type { Clock } from '../../platform/clock/clock.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { secondsLeft, toBucket } from '../../platform/rate-limit/bucket.ts'
import { rateHeaders } from '../../platform/rate-limit/rate-headers.ts'
import type { RateLimiter, Verdict } from '../../platform/rate-limit/rate-limiter.ts'
import { namespaceNotFound } from '../wire/error-details.ts'
import type { ActiveNamespace, EffectivePolicy, NamespacePolicies } from './namespace-policies.ts'

export interface NamespaceGateOptions {
  clock: Clock
  namespaces: NamespacePolicies
  rateLimiter: RateLimiter
}

/** What a request is checked by; the server's own values and no attributes where there is no such namespace. */
export type NamespaceRules = EffectivePolicy & Pick<ActiveNamespace, 'searchAttributes'>

export interface Entered {
  readonly rules: NamespaceRules
  /** To be asked when everything else is checked: that there is no such namespace is said last. */
  namespace(): ActiveNamespace
}

const UNKNOWN = ''

/** What every operation begins with: which namespace it is about, and whether it may be asked once more. */
export class NamespaceGate {
  readonly #options: NamespaceGateOptions
  readonly #server: NamespaceRules

  constructor(options: NamespaceGateOptions) {
    this.#options = options
    this.#server = { ...options.namespaces.server, searchAttributes: {} }
  }

  async enter(name: string): Promise<Entered> {
    const { namespaces } = this.#options
    const found = namespaces.peek(name) ?? (await namespaces.find(name))
    const rules = found ?? this.#server
    // Names that nobody has given are counted together: a caller could make up any number of them.
    if (rules.policy.rate_limit.limit > 0) await this.#count(rules, found?.name ?? UNKNOWN)
    return {
      rules,
      namespace() {
        if (found === null) throw namespaceNotFound(name)
        return found
      },
    }
  }

  async #count({ policy }: NamespaceRules, subject: string): Promise<void> {
    const { clock, rateLimiter } = this.#options
    // Windows of one bucket are of one length.
    const bucket = toBucket(`callbacks_${policy.rate_limit.period}`, policy.rate_limit)
    if (bucket === undefined) return
    refuse(await rateLimiter.spend([{ bucket, subject }]), clock.now())
  }
}

function refuse({ allowed, tightest }: Verdict, now: number): void {
  if (allowed || tightest === null) return
  const seconds = secondsLeft(tightest, now)
  throw new AppError('rate_limited', `Too many requests for this namespace: retry in ${seconds} seconds`, {
    headers: { ...rateHeaders('seconds', tightest, now), 'retry-after': String(seconds) },
  })
}
