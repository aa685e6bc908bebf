import type { Principal } from '../auth/principal.ts'
import type { Transaction } from '../storage/database.ts'
import { type AuditEvent, actor, recordAudit } from './record.ts'

/** Where a request came from; absent for the command line and the server itself. */
export type ClientInfo = NonNullable<AuditEvent['client']>

export type Change = Pick<AuditEvent, 'action' | 'target' | 'changes'>

/** Writes down who did it, in the transaction that did it. */
export function auditChange(tx: Transaction, principal: Principal, change: Change, client?: ClientInfo): Promise<void> {
  return recordAudit(tx, {
    organizationId: principal.organizationId,
    action: change.action,
    actor: actor(principal),
    target: change.target,
    changes: change.changes,
    client,
  })
}
