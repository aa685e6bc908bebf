import type { RoleId } from '../../platform/auth/managed-roles.ts'
import type { Micros } from '../../platform/clock/clock.ts'
import { enqueueJob } from '../../platform/jobs/enqueue.ts'
import type { JobEngine } from '../../platform/jobs/job-engine.ts'
import { jobKind } from '../../platform/jobs/job-kind.ts'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { readTallies } from '../../platform/tally/store.ts'
import type { Role } from '../user/user.ts'
import { deleteRole, hideRole, removeMembers, roleTally } from './store-roles.ts'

const REMOVE_ROLE = jobKind<{ roleId: RoleId }>('users.remove-role', { concurrency: 1, maxAttempts: 100 })

// Some ten milliseconds: on SQLite nobody else writes meanwhile.
const STEP = 100

/**
 * Deletes a role. One that many have would keep everybody else from writing for minutes, so it only vanishes: from every
 * answer, with all its rights. A job takes it from its members.
 */
export async function removeRole(tx: Transaction, role: Role, now: Micros, step = STEP): Promise<void> {
  const tally = roleTally(role.id)
  const members = (await readTallies(tx, [tally])).get(tally) ?? 0
  if (members <= step) return deleteRole(tx, role.id)
  await hideRole(tx, role, now)
  await enqueueJob(tx, { kind: REMOVE_ROLE, key: role.id, payload: { roleId: role.id } }, now)
}

/** To be called once, before the engine starts. */
export function registerRoleRemoval({ db, jobs }: { db: Database; jobs: JobEngine }, step = STEP): void {
  jobs.register(REMOVE_ROLE, async ({ payload: { roleId } }, { signal, complete }) => {
    let removed: number
    do {
      signal.throwIfAborted()
      removed = await db.write((tx) => removeMembers(tx, roleId, step), { alone: true })
    } while (removed === step)
    await db.write(
      async (tx) => {
        await deleteRole(tx, roleId)
        await complete(tx)
      },
      { alone: true },
    )
  })
}
