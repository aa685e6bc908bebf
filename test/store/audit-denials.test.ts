import assert from 'node:assert/strict'
import { it } from 'node:test'
import { DenialRecorder } from '../../src/platform/audit/denials.ts'
import { listAudit } from '../../src/platform/audit/list.ts'
import type { Principal, UserId } from '../../src/platform/auth/principal.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { installed } from '../support/identity.ts'
import { silentLogger } from '../support/silent-logger.ts'

async function refusing(db: Database) {
  const { operator, organizationId } = await installed(db)
  const clock = new FakeClock()
  const writes: Promise<unknown>[] = []
  const watched = new Proxy(db, {
    get(target, name) {
      if (name !== 'write') return Reflect.get(target, name)
      return (...input: Parameters<typeof db.write>) => {
        const write = target.write(...input)
        writes.push(write)
        return write
      }
    },
  })
  const denials = new DenialRecorder({ db: watched, clock, log: silentLogger() })
  const client = { address: '192.0.2.1', userAgent: 'test', requestId: 'r' }
  const refuse = (operationId: string, caller: Partial<Principal> = {}) =>
    denials.record({ principal: { ...operator, ...caller }, operationId, reason: 'Missing permission: admin', client })
  return { organizationId, clock, writes, refuse }
}

eachDatabase('refusals in the audit log', ({ open }) => {
  it('cannot fill it: each is recorded once a minute, and only so many of them', async () => {
    const db = await open()
    const { organizationId, clock, writes, refuse } = await refusing(db)
    for (let n = 0; n < 5_000; n++) refuse('Same')
    for (let n = 0; n < 5_000; n++) refuse(`Other${n}`)
    assert.equal(writes.length, 200)
    // The first one may wait for a connection of its own, longer than all the others together.
    await Promise.all(writes)
    await clock.advance(60_000)
    refuse('Same')
    await Promise.all(writes)
    const filter = { action: 'access.denied', targetId: 'Same' }
    const { events } = await listAudit(db, organizationId, filter)
    assert.deepEqual(
      events.map(({ changes, outcome }) => [changes.repeated, outcome]),
      [
        [{ new: 4_999 }, 'failure'],
        [undefined, 'failure'],
      ],
    )
    assert.equal(
      (await listAudit(db, organizationId, { action: 'access.denied' }, { limit: 1_000 })).events.length,
      201,
    )
  })

  it('of one caller leave room for those of others, and all together have an end', async () => {
    const { clock, writes, refuse } = await refusing(await open())
    const somebody = () => ({ userId: newId<'User'>() as UserId })
    for (const total of [400, 800]) {
      const noisy = somebody()
      for (let n = 0; n < 1_000; n++) refuse(`Other${n}`, { ...noisy, credentialId: newId() })
      assert.equal(writes.length, total - 200)
      for (let n = 0; n < 150; n++) refuse('One', somebody())
      assert.equal(writes.length, total - 50)
      for (let n = 0; n < 1_000; n++) refuse('One', somebody())
      assert.equal(writes.length, total)
      await clock.advance(60_000)
    }
    await Promise.all(writes)
  })
})
