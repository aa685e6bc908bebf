import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InstanceFace } from '../../src/instance/public/instance-face.ts'
import { InstanceReader } from '../../src/instance/public/instance-reader.ts'
import { privacyPolicy } from '../../src/instance/public/text-documents.ts'
import { ensureVapidKey } from '../../src/instance/public/vapid-key.ts'
import { TranslationService } from '../../src/instance/translation/translation-service.ts'
import { IdentityChanges } from '../../src/platform/auth/identity-changes.ts'
import { MICROS_PER_MS } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { type AdminWorld, adminWorld, anotherProcess, nextChange } from './admin-world.ts'

/** Counts what is asked of the database. */
function watched(db: Database): { db: Database; reads(): number } {
  let reads = 0
  const watching = new Proxy(db, {
    get(target, name, receiver) {
      if (name === 'read' || name === 'run' || name === 'query') reads++
      const value = Reflect.get(target, name, receiver)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { db: watching, reads: () => reads }
}

type Parts = Pick<AdminWorld, 'db' | 'changes' | 'keeper' | 'contacts' | 'numbers'> &
  Pick<AdminWorld, 'clock' | 'cipher'>

function faceOf(parts: Parts) {
  const { db, reads } = watched(parts.db)
  const log = silentLogger()
  const identityChanges = new IdentityChanges(parts.db)
  const translation = new TranslationService({
    ...parts,
    log,
    settings: parts.keeper,
    fetchJson: () => Promise.reject(new Error('nobody is asked here')),
  })
  const reader = new InstanceReader({
    clock: parts.clock,
    keeper: parts.keeper,
    contact: parts.contacts,
    numbers: parts.numbers,
    translation,
    baseUrl: () => 'https://kb.example.org',
  })
  const vapid = ensureVapidKey(parts)
  const face = new InstanceFace({ ...parts, db, log, identityChanges, reader, vapidKey: () => vapid })
  return { face, reads, identityChanges }
}

eachDatabase('the view of the public face', ({ open, openAgain }) => {
  test('a view that is good is handed out without a promise and without a query', async () => {
    const { face, reads } = faceOf(await adminWorld(await open()))
    const view = await face.counted()
    const before = reads()
    for (let time = 0; time < 10; time++) {
      assert.equal(face.counted(), view)
      assert.equal(face.settled(), view)
    }
    assert.equal(reads(), before)
  })

  test('questions at the same time are answered by one reading', async () => {
    const world = await adminWorld(await open())
    const { clock } = world
    const { face, reads } = faceOf(world)
    await face.counted()
    const before = reads()
    await clock.advance(5_000)
    const all = await Promise.all(Array.from({ length: 20 }, () => face.counted()))
    assert.equal(new Set(all).size, 1)
    assert.equal(reads() - before, 1)
  })

  test('counts are read again when they are too old; what only administrators change is not', async () => {
    const world = await adminWorld(await open())
    const { face } = faceOf(world)
    const first = await face.counted()
    await world.clock.advance(3_900)
    assert.equal(face.counted(), first)
    await world.clock.advance(1_100)
    assert.equal(face.settled(), first)
    const second = await face.counted()
    assert.notEqual(second, first)
    assert.equal(second.lists, first.lists, 'long lists are kept')
    assert.equal(second.languages, first.languages)
    const { contact: _contact, invitesEnabled: _invites, numbers, ...decided } = second.data
    assert.notEqual(numbers, first.data.numbers)
    for (const [name, value] of Object.entries(decided)) {
      assert.equal(value, first.data[name as keyof typeof decided], name)
    }
  })

  test('counts that are nearly too old are read ahead, so that nobody waits', async () => {
    const world = await adminWorld(await open())
    const { face } = faceOf(world)
    const first = await face.counted()
    await world.clock.advance(4_500)
    assert.equal(face.counted(), first)
    let next = face.counted()
    while (next === first) {
      await new Promise(setImmediate)
      next = face.counted()
    }
    assert.ok(!(next instanceof Promise))
  })

  test('a view is not used on another day', async () => {
    const world = await adminWorld(await open())
    const { face } = faceOf(world)
    await world.settings.patch(world.operator, { cache: { counter_seconds: 86_400 } })
    assert.equal((await face.settled()).today, '2030-01-01')
    await world.clock.advance(86_400_000)
    assert.equal((await face.settled()).today, '2030-01-02')
    assert.equal((await face.counted()).today, '2030-01-02')
  })

  test('a change takes the view away at once, here and in another process', async () => {
    const db = await open()
    const world = await adminWorld(db)
    const here = faceOf(world)
    const away = { ...world, ...(await anotherProcess(world, await openAgain(db))) }
    const there = faceOf(away)
    await here.face.counted()
    await there.face.counted()
    const heard = nextChange(away)
    await world.rules.create(world.operator, { text: 'Be kind' })
    assert.equal((await here.face.settled()).data.rules.length, 1)
    // A SQLite file belongs to one process: there is nobody to tell.
    if (db.engine === 'sqlite') return
    await heard
    assert.equal((await there.face.settled()).data.rules.length, 1)
  })

  test('a reading that began before a change is not taken for one after it', async () => {
    const world = await adminWorld(await open())
    const { face } = faceOf(world)
    const early = face.counted()
    const change = world.rules.create(world.operator, { text: 'Be kind' })
    const [, changed] = await Promise.all([early, change])
    assert.ok(changed)
    assert.equal((await face.counted()).data.rules.length, 1)
    assert.equal((await face.settled()).data.rules.length, 1)
  })

  test('a change of users is seen at once, and the counts are kept meanwhile', async () => {
    const world = await adminWorld(await open())
    const { face, identityChanges } = faceOf(world)
    const first = await face.counted()
    await world.db.write(async (tx) => identityChanges.announce(tx))
    const second = await face.counted()
    assert.notEqual(second, first)
    assert.equal(second.data.numbers, first.data.numbers)
    assert.equal(second.lists, first.lists)
    assert.ok(!(face.settled() instanceof Promise))
  })

  test('a document that names the server is another one when the name changes, and only then', async () => {
    const world = await adminWorld(await open())
    const { clock, operator, settings } = world
    const { face } = faceOf(world)
    const changedAt = async () => privacyPolicy((await face.settled()).data, 'https://kb.example.org').changedAt
    const before = await changedAt()
    await clock.advance(10_000)
    await settings.patch(operator, { title: 'Another' })
    assert.equal(await changedAt(), before)
    await settings.patch(operator, { domain: 'notes.example.org' })
    assert.ok((await changedAt()) - before >= 10_000 * MICROS_PER_MS)
    await world.documents.put(operator, { kind: 'privacy_policy', text: 'Names nobody' })
    const written = await changedAt()
    await clock.advance(10_000)
    await settings.patch(operator, { domain: 'other.example.org' })
    assert.equal(await changedAt(), written)
  })

  test('a reading that fails is tried again by the next question', async () => {
    const world = await adminWorld(await open())
    const { face } = faceOf({ ...world, numbers: failingOnce(world.numbers) })
    await assert.rejects(Promise.resolve(face.counted()), /broken/)
    assert.ok(await face.counted())
  })
})

function failingOnce(numbers: AdminWorld['numbers']): AdminWorld['numbers'] {
  let isBroken = true
  return new Proxy(numbers, {
    get(target, name) {
      if (name === 'readNumbers' && isBroken) {
        isBroken = false
        return () => Promise.reject(new Error('broken'))
      }
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
