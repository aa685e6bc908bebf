import type { UserStatus } from '../../platform/auth/tables.ts'
import type { Reader } from '../../platform/storage/database.ts'
import { readTallies } from '../../platform/tally/store.ts'
import { findOrganizationId } from '../store-installation.ts'
import { registrationsTally, usersTally } from './store-users.ts'

const COUNTED: readonly UserStatus[] = ['Active', 'Pending']

/** People who are neither disabled nor anonymized. */
export async function countUsers(reader: Reader): Promise<number> {
  const organizationId = await findOrganizationId(reader)
  if (organizationId === undefined) return 0
  const names = COUNTED.map((status) => usersTally({ organizationId, status, serviceAccount: false }))
  return [...(await readTallies(reader, names)).values()].reduce((sum, amount) => sum + amount, 0)
}

/** By day (`YYYY-MM-DD`, UTC). */
export async function countRegistrations(reader: Reader, days: readonly string[]): Promise<Map<string, number>> {
  const tallies = await readTallies(reader, days.map(registrationsTally))
  return new Map(days.map((day) => [day, tallies.get(registrationsTally(day)) ?? 0]))
}
