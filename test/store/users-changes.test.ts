import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actor, recordAudit } from '../../src/platform/audit/record.ts'
import type { RoleId } from '../../src/platform/auth/managed-roles.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import { PersonalData } from '../../src/platform/personal-data/personal-data.ts'
import { AnonymizeService, ServiceAccountService, usersPersonalData } from '../../src/users/index.ts'
import { RoleService } from '../../src/users/role/role-service.ts'
import { eventsBetween } from '../../src/users/user/store-user-changes.ts'
import { listVersion } from '../../src/users/user/store-user-list.ts'
import { PASSWORD } from '../support/accounts.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'
import { invitationBench } from '../support/invitations.ts'
import { silentLogger } from '../support/silent-logger.ts'

eachDatabase('what the audit log tells about changes of users', ({ open }) => {
  test('every change of a user or a membership tells whom it changed', async () => {
    const deps = await invitationBench(await open())
    const { db, clock, users, operator, pending, invite, invitations, signIn } = deps
    const personalData = new PersonalData()
    personalData.join(...usersPersonalData({ clock }))
    const anonymize = new AnonymizeService({ ...deps, personalData, log: silentLogger() })
    const accounts = new ServiceAccountService({ ...deps, settings: { allowed_email_domains: [] } })
    const roles = new RoleService(deps)
    const { id: roleId } = await roles.create(operator, { name: 'Readers' })
    const member = { roleId: roleId as RoleId }
    const email = 'ada@example.org'
    const userId = await pending(email)
    const { token } = await invite(userId)

    const told = async (change: () => Promise<unknown>) => {
      const before = await listVersion(db)
      const result = await change()
      const events = (await eventsBetween(db, before, await listVersion(db))) ?? []
      return { result, userIds: new Set(events.flatMap((event) => event.userIds)), events }
    }
    const changes: Record<string, () => Promise<unknown>> = {
      accepts: () => invitations.accept({ token, password: PASSWORD }),
      'signs in': () => signIn(email),
      'is renamed': () => users.update(operator, { userId, name: 'Ada' }),
      'is given a role': () => users.addRole(operator, { userId, ...member }),
      'loses a role': () => users.removeRole(operator, { userId, ...member }),
      'has another address': () => users.update(operator, { userId, email: 'countess@example.org' }),
      'is disabled': () => users.disable(operator, { userId }),
      'is enabled': () => users.enable(operator, { userId, vouchedFor: true }),
      'is anonymized': () => anonymize.anonymize(operator, [userId]),
    }
    for (const [name, change] of Object.entries(changes)) {
      assert.ok((await told(change)).userIds.has(userId), name)
    }
    const created = await told(() => users.create(operator, { email: 'grace@example.org' }))
    assert.ok(created.userIds.has((created.result as { id: string }).id))
    const robot = await told(() => accounts.create(operator, { email: 'robot@example.org' }))
    assert.ok(robot.userIds.has((robot.result as { id: string }).id))
    const { events } = await told(() => roles.delete(operator, member))
    assert.deepEqual(
      events.map(({ deletedRole }) => deletedRole),
      [roleId],
    )
  })

  test('who changed something else did not change by it', async () => {
    const db = await open()
    const { organizationId, administratorId, operator } = await installed(db)
    const before = await listVersion(db)
    const by = actor({ ...operator, kind: 'user', userId: administratorId })
    const target = { type: 'notes', id: newId<'Note'>() }
    await db.write((tx) => recordAudit(tx, { organizationId, action: 'note.updated', actor: by, target }))
    const after = await listVersion(db)
    assert.ok(after > before)
    assert.deepEqual(await eventsBetween(db, before, after), [])
  })
})
