import { Announcements } from '../storage/announcements.ts'
import type { Database } from '../storage/database.ts'

/** Of credentials, users, roles and permissions: of everything that could give a right or take it away, and of who a user is. */
export class IdentityChanges extends Announcements {
  constructor(db: Pick<Database, 'subscribe'>) {
    super(db, 'identity')
  }
}
