import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAccountName, keepAccountName } from '../../src/instance/contact/store-contact.ts'
import { instancePersonalData } from '../../src/instance/personal-data.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import type { Reader, Transaction } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type AdminWorld, adminWorld } from './admin-world.ts'

async function person({ users, operator }: AdminWorld, email: string): Promise<UserId> {
  return (await users.create(operator, { email, vouchedFor: true, name: 'Somebody', title: 'T' })).id
}

async function contactOf({ db, contacts, keeper }: AdminWorld) {
  return db.read(async (snapshot) => contacts.readContact(snapshot, await keeper.effectiveSettings(snapshot)))
}

async function setContact({ settings, operator }: AdminWorld, user: string | null): Promise<void> {
  await settings.patch(operator, { contact: { user } })
}

async function erase(world: AdminWorld, id: UserId, email: string): Promise<void> {
  const erased = { id, organizationId: world.organizationId, email, handle: email, formerEmails: [] }
  await world.db.write(async (tx) => {
    for (const part of instancePersonalData(world)) await part.erase(tx, erased)
  })
}

/** What the settings and the log of their changes say. */
async function written({ db }: AdminWorld) {
  const changes = db.query.selectFrom('audit_events').select('changes').where('action', '=', 'settings.changed')
  return {
    stored: await db.query.selectFrom('instance_settings').selectAll().execute(),
    events: await changes.execute(),
  }
}

/** Writes down what is read by it. */
function watched(reader: Reader, looks: string[]): Reader {
  return new Proxy(reader, {
    get(target, name) {
      if (name === 'query' || name === 'run') looks.push(name)
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

eachDatabase('the contact of the instance', ({ open }) => {
  test('is the first administrator unless somebody else is named, by id, handle, address or name', async () => {
    const world = await adminWorld(await open())
    assert.equal((await contactOf(world))?.id, world.administratorId)
    const ada = await person(world, 'Ada@example.org')
    for (const text of [ada, ada.toUpperCase(), 'ada@example.org', 'ADA@EXAMPLE.ORG', 'ada']) {
      await setContact(world, text)
      const contact = await contactOf(world)
      assert.deepEqual([contact?.id, contact?.username, contact?.name, contact?.title], [ada, 'ada', 'Somebody', 'T'])
    }
    await setContact(world, null)
    assert.equal((await contactOf(world))?.id, world.administratorId)
  })

  test('is nobody when the user is disabled or not there', async () => {
    const world = await adminWorld(await open(), { yaml: 'instance: { contact: { user: nobody@example.org } }' })
    assert.equal(await contactOf(world), null)
    const ada = await person(world, 'ada@example.org')
    await setContact(world, ada)
    assert.equal((await contactOf(world))?.id, ada)
    await world.users.disable(world.operator, { userId: ada })
    assert.equal(await contactOf(world), null)
  })

  test('that nobody was found for is looked for again after a minute, or a change of the settings', async () => {
    const world = await adminWorld(await open(), { yaml: 'instance: { contact: { user: ada@example.org } }' })
    const { db, clock, contacts, keeper } = world
    const settings = await keeper.current()
    const looks: string[] = []
    const look = () => contacts.readContact(watched(db, looks), settings)
    assert.equal(await look(), null)
    const ada = await person(world, 'ada@example.org')
    const before = looks.length
    await clock.advance(59_000)
    assert.equal(await look(), null)
    assert.equal(looks.length, before, 'nothing was read')
    await clock.advance(1_000)
    assert.equal((await look())?.id, ada)
    const another = await adminWorld(await open(), { yaml: 'instance: { contact: { user: bob@example.org } }' })
    assert.equal(await another.contacts.readContact(another.db, await another.keeper.current()), null)
    const bob = await person(another, 'bob@example.org')
    await another.settings.patch(another.operator, { title: 'T' })
    assert.equal((await another.contacts.readContact(another.db, await another.keeper.current()))?.id, bob)
  })

  test('named by the account is looked for once', async () => {
    const world = await adminWorld(await open())
    await person(world, 'ada@example.org')
    const namesake = await person(world, 'ada@example.net')
    await world.db.write((tx) => keepAccountName(tx, namesake))
    await setContact(world, 'ada-2')
    const settings = await world.keeper.current()
    const [first, again]: [string[], string[]] = [[], []]
    for (const looks of [first, again]) {
      const contact = await world.contacts.readContact(watched(world.db, looks), settings)
      assert.deepEqual([contact?.id, contact?.username], [namesake, 'ada-2'])
    }
    assert.ok(again.length < first.length, `${again.length} statements after ${first.length}`)
  })

  test('whose name somebody had before gets a number, by age, and keeps it', async () => {
    const world = await adminWorld(await open())
    const [first, second, third] = [
      await person(world, 'ada+x@example.org'),
      await person(world, 'Ada_x@example.net'),
      await person(world, 'ada-x@example.net'),
    ]
    const fourth = await person(world, 'ada/x@example.com')
    const nameOf = async (id: UserId) => {
      await world.db.write((tx) => keepAccountName(tx, id))
      return findAccountName(world.db, id)
    }
    // Whoever is looked at first, the older user has the plain name.
    assert.equal(await nameOf(fourth), 'ada_x-3')
    assert.equal(await nameOf(second), 'ada_x-2')
    assert.equal(await nameOf(third), 'ada-x')
    assert.equal(await nameOf(first), 'ada_x')
    await world.db.write(async (tx) => {
      const erased = { id: first, organizationId: world.organizationId, email: 'ada+x@example.org', handle: '' }
      for (const part of instancePersonalData(world)) await part.erase(tx, { ...erased, formerEmails: [] })
    })
    assert.equal(await findAccountName(world.db, first), undefined)
    assert.equal(await nameOf(second), 'ada_x-2')
  })

  test('a name is kept as soon as it was shown, and leads to the account', async () => {
    const world = await adminWorld(await open())
    const ada = await person(world, 'ada@example.org')
    await setContact(world, ada)
    const shown = await contactOf(world)
    // The writer takes turns, so this one comes after the name.
    await world.db.write(async (tx) => keepAccountName(tx, ada))
    assert.equal(shown?.username, 'ada')
    assert.equal(await findAccountName(world.db, ada), 'ada')
    await person(world, 'ada@example.net')
    await setContact(world, 'ada')
    assert.equal((await contactOf(world))?.id, ada)
    await assert.rejects(setContact(world, 'bob'), /contact\.user is not the id, handle or email of a user/)
  })

  test('who is anonymized is forgotten as contact, in the settings and in the log', async () => {
    const world = await adminWorld(await open())
    const email = 'ada@example.org'
    const ada = await person(world, email)
    await world.settings.patch(world.operator, { contact: { user: email, email }, title: 'T' })
    await erase(world, ada, email)
    await world.changes.settled()
    const { contact, title } = await world.settings.get(world.operator)
    assert.deepEqual([contact.user, contact.email, title], [null, '', 'T'])
    const { stored, events } = await written(world)
    assert.equal(events.length, 1)
    assert.ok(!JSON.stringify([stored, events]).includes('ada'))
  })

  test('who is anonymized is forgotten as contact however the address was written', async () => {
    for (const [email, typed] of [
      ['ada@example.org', ' Ada@Example.ORG'],
      ['ad\u00e9@example.org', 'ade\u0301@example.org'],
    ] as const) {
      const world = await adminWorld(await open())
      const ada = await person(world, email)
      await world.settings.patch(world.operator, { contact: { user: typed, email: typed.trim() } })
      assert.equal((await contactOf(world))?.id, ada)
      await erase(world, ada, email)
      const { stored, events } = await written(world)
      assert.deepEqual([stored.length, events.length], [0, 1])
      assert.doesNotMatch(JSON.stringify(events), /ad/i)
    }
  })

  test('a contact that was erased beside this process is no longer shown when the person is erased once more', async () => {
    const world = await adminWorld(await open())
    const email = 'ada@example.org'
    const ada = await person(world, email)
    await world.settings.patch(world.operator, { contact: { user: email, email } })
    await world.db.write(async (tx) => {
      await tx.query.deleteFrom('instance_settings').execute()
      await tx.query.updateTable('users').set({ anonymized_at: 1 }).where('id', '=', ada).execute()
    })
    let renewed = 0
    world.changes.listen(() => void renewed++)
    await erase(world, ada, '')
    assert.equal(renewed, 1)
  })

  test('who is anonymized is forgotten in what earlier versions wrote to the log, too', async () => {
    const world = await adminWorld(await open())
    const email = 'ada@example.org'
    const ada = await person(world, email)
    await world.settings.patch(world.operator, { contact: { email } })
    const log = (tx: Transaction) => tx.query.updateTable('audit_events').set({ action: 'instance.updated' }).execute()
    await world.db.write(log)
    await erase(world, ada, email)
    const events = await world.db.query.selectFrom('audit_events').select('changes').execute()
    assert.ok(events.length > 0)
    assert.ok(!JSON.stringify(events).includes('ada'))
  })

  for (const name of ['ada', 'ada.b'])
    test(`who is anonymized is forgotten as contact when named as ${name}`, async () => {
      const world = await adminWorld(await open())
      const email = `${name}@example.org`
      const ada = await person(world, email)
      await world.settings.patch(world.operator, { contact: { user: email } })
      await contactOf(world)
      await world.settings.patch(world.operator, { contact: { user: name }, title: 'T' })
      await world.db.write(async (tx) => keepAccountName(tx, ada))
      await erase(world, ada, email)
      await world.changes.settled()
      assert.equal((await world.settings.get(world.operator)).contact.user, null)
      const { stored, events } = await written(world)
      assert.equal(events.length, 2)
      assert.ok(!JSON.stringify([stored, events]).includes('ada'))
    })

  test('shows how many notes the user made that still exist, and when the newest was made', async () => {
    const world = await adminWorld(await open())
    const { db, administratorId: id } = world
    assert.deepEqual([(await contactOf(world))?.noteCount, (await contactOf(world))?.lastNoteAt], [0, null])
    const projects = await db.query.selectFrom('projects').select('id').execute()
    const projectId = projects[0]?.id as number
    await db.write(async (tx) => {
      for (const [n, createdBy] of [id, id, 'somebody else'].entries()) {
        await tx.query
          .insertInto('notes')
          .values({
            external_id: `e${n}`,
            project_id: projectId,
            title: 't',
            note_type: 'note',
            type_key: 'note',
            permalink: null,
            file_path: `${n}.md`,
            metadata: '{}',
            checksum: '',
            size: 0,
            version: 1,
            last_change: 'created',
            created_at: 100 + n,
            updated_at: 1,
            written_at: 1,
            created_by: createdBy,
            written_by: createdBy,
          })
          .execute()
      }
    })
    const contact = await contactOf(world)
    assert.deepEqual([contact?.noteCount, contact?.lastNoteAt], [2, 101])
    await db.write((tx) =>
      tx.query.updateTable('projects').set({ deleted_at: 1 }).where('id', '=', projectId).execute(),
    )
    assert.equal((await contactOf(world))?.noteCount, 0)
  })
})
