import type { Person } from '../personal-data/personal-data.ts'
import type { Transaction } from '../storage/database.ts'
import { blankEventsAbout, blankEventsBy, keysOf } from './store-blanking.ts'

/**
 * Takes what names the person out of the log: in events by it and about it, and about its keys, which people name after
 * themselves. Who did what, to whom and when stays. Before the keys are deleted.
 */
export async function blankAudit(tx: Transaction, { id, organizationId }: Person): Promise<void> {
  for (const key of await keysOf(tx, organizationId, id)) await blankEventsAbout(tx, organizationId, key)
  await blankEventsBy(tx, organizationId, id)
  await blankEventsAbout(tx, organizationId, id)
}
