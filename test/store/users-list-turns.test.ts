import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../src/platform/errors/app-error.ts'
import type { Waiting } from '../../src/platform/http/entry/waiting-of.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database, Reader } from '../../src/platform/storage/database.ts'
import { UserLister, type UserQuery } from '../../src/users/user/list-users.ts'
import type { Caller } from '../../src/users/user/search-turns.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'

const LIST: UserQuery = { page: { size: 10, number: 0 }, order: { sort: 'name', descending: false } }

eachDatabase('searches for users at the same time', ({ open }) => {
  async function people() {
    const db = await open()
    const identity = await installed(db)
    for (const name of ['ada', 'grace', 'edsger']) {
      await identity.users.create(identity.operator, { email: `${name}@example.org` })
    }
    const snapshots = { opened: 0, open: 0, most: 0 }
    const counting: Pick<Database, 'engine' | 'read'> = {
      engine: db.engine,
      read: (work) =>
        db.read(async (snapshot: Reader) => {
          snapshots.opened++
          snapshots.most = Math.max(snapshots.most, ++snapshots.open)
          return work(snapshot).finally(() => snapshots.open--)
        }),
    }
    const lister = new UserLister({ ...identity, db: counting, limits: { small: 0, stepRows: 1, stepLooks: 1 } })
    const somebody = () => ({ ...identity.operator, userId: newId<'User'>() })
    const search = (filter: string, caller: Caller = identity.operator, waiting?: Waiting) =>
      lister.read(caller, { ...LIST, filter }, async (_snapshot, { filtered }) => filtered, waiting)
    return { lister, identity, snapshots, search, somebody }
  }

  test('one of those for the same users holds a snapshot, the others wait without', async () => {
    const { snapshots, search } = await people()
    const counts = await Promise.all(['EXAMPLE', ' example', 'example', 'example'].map((filter) => search(filter)))
    assert.deepEqual(new Set(counts), new Set([await search('example')]))
    assert.ok((counts[0] as number) >= 3)
    assert.equal(snapshots.most, 1)
  })

  test('one that fails keeps nobody waiting', async () => {
    const { lister, identity, search } = await people()
    const failing = lister.read(identity.operator, { ...LIST, filter: 'ada' }, () =>
      Promise.reject(new Error('on purpose')),
    )
    const behind = search('ada')
    await assert.rejects(failing, /on purpose/)
    assert.equal(await behind, 1)
  })

  test('different ones hold one snapshot of each caller and two altogether', async () => {
    const { lister, snapshots, search, somebody } = await people()
    const caller = somebody()
    assert.deepEqual(
      await Promise.all(['ada', 'gra', 'eds', 'nobody'].map((text) => search(text, caller))),
      [1, 1, 1, 0],
    )
    assert.equal(snapshots.most, 1)
    // None is over before there are two.
    const two = Promise.withResolvers<void>()
    const others = ['da@', 'ce@', 'er@', 'nob'].map((filter) =>
      lister.read(somebody(), { ...LIST, filter }, async (_snapshot, { filtered }) => {
        if (snapshots.open === 2) two.resolve()
        await two.promise
        return filtered
      }),
    )
    assert.deepEqual(await Promise.all(others), [1, 1, 1, 0])
    assert.equal(snapshots.most, 2)
  })

  test('so do pages that lie far behind', async () => {
    const { lister, identity, snapshots } = await people()
    const far = { ...LIST, page: { size: 1, number: 3 } }
    const read = () => lister.read(identity.operator, far, async (_snapshot, { users }) => users.length)
    assert.deepEqual(await Promise.all([read(), read(), read()]), [1, 1, 1])
    assert.equal(snapshots.most, 1)
  })

  test('who asks for many at once waits behind their own, and nobody else does', async () => {
    const { lister, search, somebody } = await people()
    const caller = somebody()
    const [first, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let begun = 0
    const held = async () => {
      begun++
      first.resolve()
      await gate.promise
    }
    const many = ['ada', 'gra', 'eds', 'nobody'].map((filter) => lister.read(caller, { ...LIST, filter }, held))
    await first.promise
    assert.ok((await search('example', somebody())) >= 3)
    assert.equal(begun, 1)
    gate.resolve()
    await Promise.all(many)
    assert.equal(begun, 4)
  })

  test('who has gone before their turn is not searched for', async () => {
    const { lister, identity, snapshots, search } = await people()
    const gone = new AbortController()
    let opened = 0
    const first = lister.read(identity.operator, { ...LIST, filter: 'ada' }, async () => {
      opened = snapshots.opened
      gone.abort()
    })
    const second = search('gra', identity.operator, { gone: gone.signal, judgeAgain: async () => {} })
    await assert.rejects(second, { code: 'canceled' })
    await first
    assert.equal(snapshots.opened, opened)
    assert.equal(await search('gra'), 1)
  })

  test('whose right is gone when it is their turn is not searched for', async () => {
    const { lister, identity, snapshots, search } = await people()
    let isAllowed = true
    let opened = 0
    const judgeAgain = async () => {
      if (!isAllowed) throw new AppError('permission_denied', 'gone')
    }
    const first = lister.read(identity.operator, { ...LIST, filter: 'ada' }, async () => {
      opened = snapshots.opened
      isAllowed = false
    })
    const second = search('gra', identity.operator, { gone: new AbortController().signal, judgeAgain })
    await assert.rejects(second, { code: 'permission_denied' })
    await first
    assert.equal(snapshots.opened, opened)
    assert.equal(await search('gra'), 1)
  })
})
