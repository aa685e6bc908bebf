import type { OrganizationId } from '../platform/auth/principal.ts'
import type { OrganizationsTable } from '../platform/auth/tables.ts'
import type { Micros } from '../platform/clock/clock.ts'
import type { Reader, Transaction } from '../platform/storage/database.ts'

declare module '../platform/storage/tables.ts' {
  interface Tables {
    /** Facts about this installation that are written once, and which restore its data came from. */
    installation: { key: string; value: string; created_at: Micros }
  }
}

const ID = 'id'

/** Undefined before the first start. */
export async function findInstallationId(reader: Reader): Promise<string | undefined> {
  const row = await reader.query.selectFrom('installation').select('value').where('key', '=', ID).executeTakeFirst()
  return row?.value
}

/**
 * The first statement of the first start. Of several processes one gets true; the others wait until its transaction
 * has ended, and get false when it succeeded.
 */
export async function claimInstallation(tx: Transaction, id: string, at: Micros): Promise<boolean> {
  const rows = await tx.query
    .insertInto('installation')
    .values({ key: ID, value: id, created_at: at })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('key')
    .execute()
  return rows.length === 1
}

export async function insertOrganization(tx: Transaction, row: OrganizationsTable): Promise<void> {
  await tx.query.insertInto('organizations').values(row).execute()
}

/** The only one there is; undefined before the first start. */
export async function findOrganizationId(reader: Reader): Promise<OrganizationId | undefined> {
  const row = await reader.query
    .selectFrom('organizations')
    .select('id')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}
