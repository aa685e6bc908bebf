import { auditChange, type Change, type ClientInfo } from '../platform/audit/audit-change.ts'
import type { Principal } from '../platform/auth/principal.ts'
import { Announcements } from '../platform/storage/announcements.ts'
import type { Database, Transaction, WriteOptions } from '../platform/storage/database.ts'

/** Of what an administrator decides, and the instance shows or does. */
export class InstanceChanges extends Announcements {
  readonly #db: Pick<Database, 'write'>

  constructor(db: Pick<Database, 'write' | 'subscribe'>) {
    super(db, 'instance')
    this.#db = db
  }

  /** What an administrator does: answered when it holds here. */
  async write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T> {
    const result = await this.#db.write(work, options)
    await this.settled()
    return result
  }

  /** Part of every such change: it is written down, and whoever shows what was before is told. */
  record(tx: Transaction, principal: Principal, change: Change, client?: ClientInfo): Promise<void> {
    this.announce(tx)
    return auditChange(tx, principal, change, client)
  }
}
