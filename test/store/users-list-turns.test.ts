import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import { UserLister, type UserQuery } from '../../src/users/user/list-users.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'

const LIST: UserQuery = { page: { size: 10, number: 0 }, order: { sort: 'name', descending: false } }

eachDatabase('searches for the same users at the same time', ({ open }) => {
  async function people() {
    const db = await open()
    const identity = await installed(db)
    for (const name of ['ada', 'grace', 'edsger']) {
      await identity.users.create(identity.operator, { email: `${name}@example.org` })
    }
    const snapshots = { open: 0, most: 0 }
    const counting: Pick<Database, 'engine' | 'read'> = {
      engine: db.engine,
      read: (work) =>
        db.read(async (snapshot: Reader) => {
          snapshots.most = Math.max(snapshots.most, ++snapshots.open)
          return work(snapshot).finally(() => snapshots.open--)
        }),
    }
    const lister = new UserLister({ ...identity, db: counting, limits: { small: 0, stepRows: 1, stepLooks: 1 } })
    const search = (filter: string) =>
      lister.read(identity.organizationId, { ...LIST, filter }, async (_snapshot, { filtered }) => filtered)
    return { lister, identity, snapshots, search }
  }

  test('one of them holds a snapshot, the others wait without', async () => {
    const { snapshots, search } = await people()
    const counts = await Promise.all(['EXAMPLE', ' example', 'example', 'example'].map(search))
    assert.deepEqual(new Set(counts), new Set([await search('example')]))
    assert.ok((counts[0] as number) >= 3)
    assert.equal(snapshots.most, 1)
  })

  test('one that fails keeps nobody waiting', async () => {
    const { lister, identity, search } = await people()
    const failing = lister.read(identity.organizationId, { ...LIST, filter: 'ada' }, () =>
      Promise.reject(new Error('on purpose')),
    )
    const behind = search('ada')
    await assert.rejects(failing, /on purpose/)
    assert.equal(await behind, 1)
  })
})
