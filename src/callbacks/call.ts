import type { ClientInfo } from '../platform/audit/audit-change.ts'
import type { Principal } from '../platform/auth/principal.ts'

/** Who asks for an operation and how long they wait, whatever the protocol. */
export interface Call {
  readonly principal: Principal
  /** Aborts when the caller has gone. */
  readonly signal: AbortSignal
  /** Aborts when no answer can be sent any more: to one who has only ended its side of the connection it still can. */
  readonly closed: AbortSignal
  /** What is left until the caller gives up; null: nothing was said. */
  readonly deadlineMs: number | null
  /** Whether an answer that comes at the deadline is lost: over RPC both sides cut the call off then. */
  readonly isCutOff?: boolean
  /** Where it came from, for the audit log. */
  readonly client?: ClientInfo
  /** To be asked before somebody who waited is told something: throws what a new call would be refused with. */
  refuseUnlessStillAllowed(): Promise<void>
}
