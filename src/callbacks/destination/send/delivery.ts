import type { GiveUpSignal } from '../../../platform/outbound/give-up.ts'
import type { TargetPolicy } from '../address/find-target-problem.ts'
import type { Target } from '../address/target.ts'
import type { Verdict } from '../answer/verdict.ts'

/** One attempt. */
export interface DeliveryRequest {
  target: Target
  /** As it stands now: rules and ports may have changed since the callback was started. */
  policy: TargetPolicy
  /** As `requestHeaders` makes them. */
  headers: ReadonlyMap<string, string>
  body: Uint8Array
  /** For all of the attempt, from the look-up of the name to the end of the answer. */
  timeoutMs: number
  /** The most that a receiver may ask us to wait; an hour unless said otherwise. */
  maxDelayMs?: number
  /** Gives the attempt up; its promise is rejected with the reason. */
  signal?: GiveUpSignal
}

/** What became of it, also when it never left. */
export interface Delivery {
  verdict: Verdict
  /** Null when no answer came. */
  statusCode: number | null
  /** The beginning of the answer's body. */
  snippet: string
  /** The address that was called; null when it did not come to that. */
  address: string | null
}
