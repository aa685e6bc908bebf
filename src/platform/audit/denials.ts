import type { Principal } from '../auth/principal.ts'
import type { Clock } from '../clock/clock.ts'
import { ignoreFailure } from '../errors/ignore-failure.ts'
import type { Logger } from '../logging/logger.ts'
import type { Database } from '../storage/database.ts'
import { type AuditEvent, actor, recordAudit } from './record.ts'

export interface Denial {
  principal: Principal
  operationId: string
  reason: string
  client: NonNullable<AuditEvent['client']>
}

const WINDOW_MS = 60_000
/**
 * Of different denials in one window. A caller has at most as many as it leaves to others: whoever tries everything everywhere is
 * seen as well in half of them, and hides nobody.
 */
const PER_WINDOW = 400

/**
 * Records that somebody with good credentials was refused. It is no change and costs the caller nothing, so it could be
 * repeated without end: the same denial is recorded once a minute, with how often it came in the minute before.
 */
export class DenialRecorder {
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  /** How often each came in this window. */
  #seen = new Map<string, number>()
  #before = new Map<string, number>()
  /** How many different ones each caller has in this window. */
  #ofCaller = new Map<string, number>()
  #windowEndsMs = 0

  constructor({ db, clock, log }: { db: Database; clock: Clock; log: Logger }) {
    this.#db = db
    this.#clock = clock
    this.#log = log
  }

  record({ principal, operationId, reason, client }: Denial): void {
    this.#turnWindow()
    const caller = principal.userId ?? principal.kind
    const what = `${caller} ${principal.credentialId ?? ''} ${operationId}`
    const count = this.#seen.get(what)
    const own = this.#ofCaller.get(caller) ?? 0
    if (count !== undefined) this.#seen.set(what, count + 1)
    if (count !== undefined || own >= PER_WINDOW - this.#seen.size) return
    this.#seen.set(what, 1)
    this.#ofCaller.set(caller, own + 1)
    const repeated = (this.#before.get(what) ?? 1) - 1
    const event: AuditEvent = {
      organizationId: principal.organizationId,
      action: 'access.denied',
      outcome: 'failure',
      actor: actor(principal),
      target: { type: 'operations', id: operationId },
      changes: { reason: { new: reason }, ...(repeated > 0 && { repeated: { new: repeated } }) },
      client,
    }
    const written = this.#db.write((tx) => recordAudit(tx, event), { isolation: 'read committed' })
    ignoreFailure(written, 'the caller was refused, recorded or not', this.#log)
  }

  #turnWindow(): void {
    const now = this.#clock.elapsedMs()
    if (now < this.#windowEndsMs) return
    this.#before = now < this.#windowEndsMs + WINDOW_MS ? this.#seen : new Map()
    this.#seen = new Map()
    this.#ofCaller = new Map()
    this.#windowEndsMs = now + WINDOW_MS
  }
}
