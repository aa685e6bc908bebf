import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeChangesCursor, encodeChangesCursor } from '../../src/knowledge/history/changes-cursor.ts'
import { type ChangesPage, readChanges } from '../../src/knowledge/history/changes-feed.ts'
import { ChangesWatch } from '../../src/knowledge/history/changes-watch.ts'
import { purgeHistory } from '../../src/knowledge/history/history-jobs.ts'
import { lastChanges, listChanges, recordChange } from '../../src/knowledge/history/store-changes.ts'
import { keepRevision, listRevisions } from '../../src/knowledge/history/store-revisions.ts'
import {
  deleteTrash,
  findTrashed,
  listTrash,
  takeExpiredTrash,
  trashNote,
} from '../../src/knowledge/history/store-trash.ts'
import type { NoteWithContent, Project } from '../../src/knowledge/note/note.ts'
import { lockProject } from '../../src/knowledge/project/store-project-lock.ts'
import type { UserId } from '../../src/platform/auth/principal.ts'
import { Bell } from '../../src/platform/clock/bell.ts'
import { newId } from '../../src/platform/ids/uuid.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { addProject, plainNote } from '../support/plain-notes.ts'

const BEGINNING = 0
const DAY_MS = 86_400_000
const somebody = { userId: newId<'User'>() as UserId }

eachDatabase('the trash', (context) => {
  test('holds a note as it was, the last one deleted first', async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    const other = await addProject(db, 'other')
    const notes = [1, 2, 3].map((id) => plainNote(project, id, { content: `text ${id}` }))
    for (const [index, note] of notes.entries()) await db.write((tx) => trashNote(tx, note, somebody, 1000 + index))
    await db.write((tx) => trashNote(tx, plainNote(other, 9), somebody, 2000))
    const first = await listTrash(db, project.id, 2, null)
    assert.deepEqual(
      first.map(({ note_id, deleted_by }) => [note_id, deleted_by]),
      [
        [3, somebody.userId],
        [2, somebody.userId],
      ],
    )
    const rest = await listTrash(db, project.id, 2, { deletedAt: 1001, noteId: 2 })
    assert.deepEqual(
      rest.map(({ note_id }) => note_id),
      [1],
    )
    assert.deepEqual(await findTrashed(db, project.id, notes[1]?.external_id as string), notes[1])
    assert.equal(await findTrashed(db, other.id, notes[1]?.external_id as string), undefined)
  })

  test('of two notes that had the same id, the last one deleted is found', async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    const externalId = newId()
    for (const id of [1, 2]) {
      const note = plainNote(project, id, { external_id: externalId, content: `text ${id}` })
      await db.write((tx) => trashNote(tx, note, somebody, id))
    }
    assert.equal((await findTrashed(db, project.id, externalId))?.content, 'text 2')
  })

  test('forgets long notes a few at a time on SQLite, which writes all of a transaction in one go', async () => {
    const clock = new FakeClock()
    const db = await context.open()
    const project = await addProject(db, 'main')
    const content = 'x'.repeat(2_000_000)
    const notes = [1, 2, 3].map((id) => plainNote(project, id, { content }))
    await db.write(async (tx) => {
      for (const note of notes) await trashNote(tx, note, somebody, clock.now())
    })
    const taken = await db.write((tx) => takeExpiredTrash(tx, clock.now() + 1, 100))
    assert.equal(taken.length, db.engine === 'sqlite' ? 2 : 3)
    await clock.advance(31 * DAY_MS)
    assert.equal(await purgeHistory(db, clock), 3 - taken.length)
  })

  test('forgets notes and their versions after thirty days, and no others', async () => {
    const clock = new FakeClock()
    const db = await context.open()
    const project = await addProject(db, 'main')
    const old = Array.from({ length: 250 }, (_, index) => plainNote(project, index + 1))
    await db.write(async (tx) => {
      for (const note of old) {
        await keepRevision(tx, note, 'next')
        await trashNote(tx, note, somebody, clock.now())
      }
    })
    await clock.advance(29 * DAY_MS)
    const young = plainNote(project, 1000)
    await db.write(async (tx) => {
      await keepRevision(tx, young, 'next')
      await trashNote(tx, young, somebody, clock.now())
    })
    assert.equal(await purgeHistory(db, clock), 0)
    await clock.advance(2 * DAY_MS)
    assert.equal(await purgeHistory(db, clock), 250)
    assert.deepEqual(
      (await listTrash(db, project.id, 10, null)).map(({ note_id }) => note_id),
      [1000],
    )
    const revisions = await db.query.selectFrom('note_revisions').select('note_id').execute()
    assert.deepEqual(
      revisions.map(({ note_id }) => note_id),
      [1000],
    )
  })
})

eachDatabase('a note that leaves the trash in the moment in which its time there is over', (context) => {
  async function expired() {
    const clock = new FakeClock()
    const db = await context.open()
    const project = await addProject(db, 'main')
    const note = plainNote(project, 1)
    await db.write(async (tx) => {
      await keepRevision(tx, note, 'next')
      await trashNote(tx, note, somebody, clock.now())
    })
    await clock.advance(31 * DAY_MS)
    return { clock, db, note }
  }

  const versionsIn = async (db: Database) => (await listRevisions(db, 1, 10, 10)).length

  test('keeps its versions when it was restored before', async () => {
    const { clock, db, note } = await expired()
    const late: Database = Object.create(db, {
      write: {
        async value(...args: Parameters<Database['write']>) {
          await db.write((tx) => deleteTrash(tx, [note.id]))
          return db.write(...args)
        },
      },
    })
    assert.equal(await purgeHistory(late, clock), 0)
    assert.equal(await versionsIn(db), 1)
  })

  // SQLite has one transaction at a time.
  test('keeps them when a restore is under way', { skip: context.engine === 'sqlite' }, async () => {
    const { clock, db, note } = await expired()
    const taken = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const restore = db.write(
      async (tx) => {
        assert.equal(await deleteTrash(tx, [note.id]), 1)
        taken.resolve()
        await release.promise
      },
      { isolation: 'read committed' },
    )
    await taken.promise
    const purge = purgeHistory(db, clock)
    release.resolve()
    await restore
    assert.equal(await purge, 0)
    assert.equal(await versionsIn(db), 1)
  })
})

eachDatabase('the feed of changes', (context) => {
  const never = new AbortController().signal

  async function change(db: Database, project: Project, note: NoteWithContent, what: 'updated' | 'deleted', at = 1) {
    await db.write((tx) => recordChange(tx, project, note, { change: what, at, by: somebody.userId }))
  }

  async function read(
    db: Database,
    project: Project,
    options: { since?: string; limit?: number; waitMs?: number; clock?: FakeClock; signal?: AbortSignal } = {},
  ): Promise<ChangesPage> {
    const { since, limit = 10, waitMs = 0, clock = new FakeClock(), signal = never } = options
    return readChanges({ db, clock }, { projectId: project.externalId, since, limit, waitMs }, signal)
  }

  test('tells the last change of each note once, and again after another change', async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    const other = await addProject(db, 'other')
    const [one, two] = [plainNote(project, 1), plainNote(project, 2)] as const
    await change(db, project, one, 'updated')
    await change(db, project, two, 'updated')
    await change(db, other, plainNote(other, 3), 'updated')
    await change(db, project, { ...one, version: 2 }, 'deleted')
    const first = await read(db, project, { limit: 1 })
    assert.deepEqual(
      first.changes.map(({ external_id }) => external_id),
      [two.external_id],
    )
    assert.ok(first.hasMore)
    const second = await read(db, project, { since: first.cursor })
    assert.deepEqual(
      second.changes.map(({ external_id, change: what, version, changed_by }) => [
        external_id,
        what,
        version,
        changed_by,
      ]),
      [[one.external_id, 'deleted', 2, somebody.userId]],
    )
    assert.equal(second.hasMore, false)
    assert.deepEqual((await read(db, project, { since: second.cursor })).changes, [])
    await change(db, project, two, 'updated')
    const third = await read(db, project, { since: second.cursor })
    assert.deepEqual(
      third.changes.map(({ external_id }) => external_id),
      [two.external_id],
    )
  })

  // SQLite has one transaction at a time.
  const skip = context.engine === 'sqlite'
  test('never passes a change whose transaction has not ended', { skip }, async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    const [slow, fast] = [plainNote(project, 1), plainNote(project, 2)] as const
    const recorded = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const isolation = { isolation: 'read committed' } as const
    const pending = db.write(async (tx) => {
      await lockProject(tx, project)
      await recordChange(tx, project, slow, { change: 'updated', at: 1, by: null })
      recorded.resolve()
      await release.promise
    }, isolation)
    await recorded.promise
    const following = db.write(async (tx) => {
      await lockProject(tx, project)
      await recordChange(tx, project, fast, { change: 'updated', at: 1, by: null })
    }, isolation)
    assert.deepEqual(await listChanges(db, project.id, BEGINNING, 10), [])
    release.resolve()
    await Promise.all([pending, following])
    const all = await listChanges(db, project.id, BEGINNING, 10)
    assert.deepEqual(
      all.map(({ external_id }) => external_id),
      [slow.external_id, fast.external_id],
    )
  })

  test('who waits is told of a change that comes meanwhile', async () => {
    const clock = new FakeClock()
    const db = await context.open()
    const project = await addProject(db, 'main')
    const { cursor } = await read(db, project, { clock })
    const waiting = read(db, project, { since: cursor, waitMs: 30_000, clock })
    const note = plainNote(project, 1)
    await change(db, project, note, 'updated')
    // SQLite is told; on PostgreSQL it looks again as time passes.
    const ticking = db.engine === 'sqlite' ? undefined : tickUntil(clock, waiting)
    assert.deepEqual(
      (await waiting).changes.map(({ external_id }) => external_id),
      [note.external_id],
    )
    await ticking
  })

  // On PostgreSQL each of them asks another process.
  test('of many who wait few go on before everybody else has a turn', { skip: !skip }, async () => {
    const clock = new FakeClock()
    const db = await context.open()
    const project = await addProject(db, 'main')
    let told = 0
    const waiting = Array.from({ length: 30 }, async () => {
      const { changes } = await read(db, project, { waitMs: 30_000, clock })
      told += changes.length
    })
    await nextTurn()
    await change(db, project, plainNote(project, 1), 'updated')
    for (let before = told; told < waiting.length; before = told) {
      await nextTurn()
      assert.ok(told - before <= 2, `${told - before} went on at once`)
    }
    await Promise.all(waiting)
    // As do those who find at once what they ask for.
    const asking = waiting.map(async () => {
      const { changes } = await read(db, project, { clock })
      told -= changes.length
    })
    for (let before = told; told > 0; before = told) {
      await nextTurn()
      assert.ok(before - told <= 2, `${before - told} went on at once`)
    }
    await Promise.all(asking)
  })

  test('all who wait are looked after by one question', async () => {
    const clock = new FakeClock()
    const db = await context.open()
    const [project, other] = [await addProject(db, 'main'), await addProject(db, 'other')]
    await change(db, project, plainNote(project, 1), 'updated')
    const last = await lastChanges(db, [project.id, other.id])
    assert.deepEqual([...last.values()].sort(), [0, (await listChanges(db, project.id, BEGINNING, 1))[0]?.seq])
    let asked = 0
    const counted = new Proxy(db, {
      get(target, key) {
        if (key === 'run') asked++
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const watch = new ChangesWatch({ db: counted, clock })
    const waitFor = ({ id }: Project, after: number) => {
      const bell = new Bell(clock)
      const leave = watch.add({ projectId: id, after, bell })
      return bell.rings(never).finally(leave)
    }
    const waiting = [project, other].flatMap(({ id }) => Array(10).fill({ id, after: last.get(id) }))
    const rung: number[] = []
    const all = waiting.map(({ id, after }) => waitFor({ id } as Project, after).then(() => rung.push(id)))
    // It does not know of the change before.
    const late = waitFor(project, BEGINNING)
    await clock.advance(500)
    await late
    assert.deepEqual([asked, rung], [1, []])
    await change(db, other, plainNote(other, 2), 'updated')
    await clock.advance(500)
    await Promise.all(all.slice(10))
    assert.deepEqual([asked, rung], [2, Array(10).fill(other.id)])
    await change(db, project, plainNote(project, 3), 'updated')
    await clock.advance(500)
    await Promise.all(all)
    assert.equal(asked, 3)
    const gone = waitFor(project, Number.MAX_SAFE_INTEGER)
    await db.write((tx) =>
      tx.query.updateTable('projects').set({ deleted_at: 1 }).where('id', '=', project.id).execute(),
    )
    await clock.advance(500)
    await gone
  })

  test('who waits in vain gets an empty answer when the time is over, or at once when it goes away', async () => {
    const clock = new FakeClock()
    const db = await context.open()
    const project = await addProject(db, 'main')
    const waiting = read(db, project, { waitMs: 1_000, clock })
    await tickUntil(clock, waiting)
    assert.deepEqual((await waiting).changes, [])
    const leaving = new AbortController()
    const left = read(db, project, { waitMs: 30_000, clock, signal: leaving.signal })
    leaving.abort()
    assert.deepEqual((await left).changes, [])
  })

  test('a cursor that is too old, of another database, or no cursor is refused', async () => {
    const clock = new FakeClock()
    const db = await context.open()
    const project = await addProject(db, 'main')
    const note = plainNote(project, 1)
    await change(db, project, note, 'updated')
    const { cursor } = await read(db, project, { clock })
    const future = { ...decodeChangesCursor(cursor), seq: 2 ** 40 }
    await assert.rejects(read(db, project, { since: encodeChangesCursor(future), clock }), { code: 'gone' })
    for (const since of ['', 'x', cursor.slice(2), 'A'.repeat(1000)]) {
      await assert.rejects(read(db, project, { since, clock }), { code: 'invalid_argument' })
    }
    await clock.advance(89 * DAY_MS)
    assert.deepEqual((await read(db, project, { since: cursor, clock })).changes, [])
    await clock.advance(2 * DAY_MS)
    await assert.rejects(read(db, project, { since: cursor, clock }), { code: 'gone' })
  })

  test('deletions are told for ninety days, other changes for ever', async () => {
    const clock = new FakeClock()
    const db = await context.open()
    const project = await addProject(db, 'main')
    const [kept, deleted] = [plainNote(project, 1), plainNote(project, 2)] as const
    await change(db, project, kept, 'updated', clock.now())
    await change(db, project, deleted, 'deleted', clock.now())
    await clock.advance(90 * DAY_MS)
    await purgeHistory(db, clock)
    assert.equal((await read(db, project, { clock })).changes.length, 2)
    await clock.advance(2 * DAY_MS)
    await purgeHistory(db, clock)
    const { changes } = await read(db, project, { clock })
    assert.deepEqual(
      changes.map(({ external_id }) => external_id),
      [kept.external_id],
    )
  })

  /** Lets time pass until the work is done. */
  async function tickUntil(clock: FakeClock, work: Promise<unknown>): Promise<void> {
    let isDone = false
    const done = work.finally(() => {
      isDone = true
    })
    while (!isDone) {
      await clock.advance(100)
      await Promise.race([done, nextTurn()])
    }
  }
})
