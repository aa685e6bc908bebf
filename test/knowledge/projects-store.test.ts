import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { DeletedProjects } from '../../src/knowledge/project/deleted-projects.ts'
import { firstIndexWork, INDEX_PROJECT, indexNow, runIndexJob } from '../../src/knowledge/project/index-project.ts'
import { noteTally } from '../../src/knowledge/project/note-tally.ts'
import { projectFacts } from '../../src/knowledge/project/project-facts.ts'
import { ProjectInside } from '../../src/knowledge/project/project-inside.ts'
import { ProjectService } from '../../src/knowledge/project/project-service.ts'
import { PURGE_PROJECT, purgeProject } from '../../src/knowledge/project/purge-project.ts'
import { MICROS_PER_MS } from '../../src/platform/clock/clock.ts'
import type { Database, Transaction } from '../../src/platform/storage/database.ts'
import { addToTally } from '../../src/platform/tally/store.ts'
import { jobBench } from '../jobs/job-bench.ts'
import { eachDatabase } from '../support/each-database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { installed } from '../support/identity.ts'
import { type NoteRow, writeNoteRows } from './note-rows.ts'

const DAY_MS = 86_400_000

async function world(db: Database) {
  const clock = new FakeClock('2030-06-15T12:00:00Z')
  const { operator } = await installed(db, clock)
  return {
    db,
    clock,
    operator,
    projects: new ProjectService({ db, clock }),
    deleted: new DeletedProjects({ db, clock }),
  }
}

/** A project with notes and everything else that there is of notes. */
async function filled(db: Database, count: number, rows: NoteRow[] = []) {
  const notes = Array.from({ length: count }, (_, n) => ({ path: `notes/${String(n).padStart(4, '0')}.md` }))
  const { projectId, ids } = await writeNoteRows(db, [...rows, ...notes])
  const noteIds = [...ids.values()]
  const [first = 0, second = 0] = noteIds
  const times = { written_at: 1, deleted_at: 1, changed_at: 1 }
  const past = { title: 'x', file_path: 'x.md', content: 'x' }
  await db.write(async (tx) => {
    await addToTally(tx, noteTally(projectId), noteIds.length)
    const names = noteIds.map((note_id) => ({ project_id: projectId, name_key: `n${note_id}`, kind: 0, note_id }))
    if (names.length > 0) await tx.query.insertInto('note_names').values(names).execute()
    for (const note_id of new Set([first, second, -projectId])) {
      const revision = { note_id, version: 1, note_type: 'note', checksum: '', size: 1, change: 'created' as const }
      await tx.query
        .insertInto('note_revisions')
        .values({ ...past, ...revision, written_at: times.written_at })
        .execute()
    }
    const trashed = { note_id: -projectId, external_id: 'x', project_id: projectId, note: '{}' }
    await tx.query
      .insertInto('note_trash')
      .values({ ...past, ...trashed, deleted_at: times.deleted_at })
      .execute()
    const changes = noteIds.map((id) => ({
      external_id: String(id),
      project_id: projectId,
      change: 'created' as const,
    }))
    for (const change of changes) {
      const row = { ...change, version: 1, file_path: 'x.md', changed_at: times.changed_at }
      await tx.query.insertInto('note_changes').values(row).execute()
    }
    if (tx.engine === 'postgres') for (const id of noteIds) await insertSearchRow(tx, id * 2 ** 22 + 5)
  })
  const { external_id: externalId } = await db.query
    .selectFrom('projects')
    .select('external_id')
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow()
  return { projectId, externalId, noteIds, ids }
}

async function insertSearchRow(tx: Pick<Database, 'query'>, number: number): Promise<void> {
  await sql`insert into note_search (id, document) values (${number}, to_tsvector('simple', 'word'))`.execute(tx.query)
}

/** What SQLite's index, which is another file, is told to look at. */
async function queuedNotes(db: Database): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select note_id as id from note_search_queue`.execute(db.query)
  return rows.map(({ id }) => id).sort(ascending)
}

function ascending(one: number, other: number): number {
  return one - other
}

const TABLES = [
  'notes',
  'note_contents',
  'note_names',
  'observations',
  'relations',
  'note_trash',
  'note_changes',
] as const

async function rowsLeft(db: Database): Promise<Record<string, number>> {
  const left: Record<string, number> = {}
  const search = db.engine === 'postgres' ? ['note_search'] : []
  for (const table of [...TABLES, 'note_revisions', ...search]) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(db.query)
    left[table] = rows[0]?.n as number
  }
  return left
}

eachDatabase('projects', ({ open, openAgain }) => {
  test('the purge of a project leaves nothing of it, and everything of the others', async () => {
    const { db, operator, projects, deleted } = await world(await open())
    const other = await filled(db, 3)
    const before = await rowsLeft(db)
    const doomed = await filled(db, 230, [
      { path: 'a.md', observations: [{ category: 'c', content: 'x' }], links: ['b.md', 'nowhere'] },
      { path: 'b.md', links: ['a.md'] },
    ])
    // A link of another project into this one.
    const target = doomed.ids.get('a.md') as number
    const link = { from_id: other.noteIds[0] as number, position: 0, project_id: other.projectId, to_id: target }
    await db.write((tx) =>
      tx.query
        .insertInto('relations')
        .values({ ...link, relation_type: 'links_to', to_name: 'a', target_key: 'a' })
        .execute(),
    )
    assert.equal((await projects.get(doomed.externalId)).noteCount, 232)
    const { purge } = await deleted.delete(operator, { pathId: doomed.externalId, deleteNotes: true })
    const progress: number[] = []
    await purgeProject({ db, onProgress: (notes) => progress.push(notes) }, purge)
    assert.deepEqual(progress.slice(0, 3), [100, 200, 232])
    assert.deepEqual(await rowsLeft(db), { ...before, relations: 1 })
    if (db.engine === 'sqlite') assert.deepEqual(await queuedNotes(db), doomed.noteIds.toSorted(ascending))
    const [open1] = await db.query.selectFrom('relations').select('to_id').execute()
    assert.equal(open1?.to_id, null)
    const tallies = await db.query.selectFrom('tallies').select('name').execute()
    assert.ok(tallies.every(({ name }) => name !== noteTally(doomed.projectId)))
    assert.equal((await projects.get(other.externalId)).noteCount, 3)
    assert.equal(
      await db.query.selectFrom('projects').select('id').where('id', '=', doomed.projectId).executeTakeFirst(),
      undefined,
    )
    const [event] = await db.query
      .selectFrom('audit_events')
      .selectAll()
      .where('action', '=', 'project.purged')
      .execute()
    assert.deepEqual([event?.actor_kind, event?.target_id], ['system', doomed.externalId])
    await purgeProject({ db }, purge)
  })

  test('a deleted project is purged by the job after thirty days, not before, and not when it was restored', async () => {
    const { db, clock, operator, projects, deleted } = await world(await open())
    const bench = jobBench(db, { clock })
    bench.engine.register(PURGE_PROJECT, ({ payload }, { signal }) => purgeProject({ db, signal }, payload))
    const { externalId, projectId } = await filled(db, 2)
    const remove = () => deleted.delete(operator, { pathId: externalId, deleteNotes: false })
    await remove()
    await bench.turn()
    assert.deepEqual(
      (await deleted.list()).map((project) => project.externalId),
      [externalId],
    )
    await clock.advance(29 * DAY_MS)
    await bench.turn()
    await deleted.restore(operator, externalId)
    await clock.advance(2 * DAY_MS)
    await bench.turn()
    assert.equal((await projects.get(externalId)).noteCount, 2)
    await remove()
    await clock.advance(20 * DAY_MS)
    await deleted.restore(operator, externalId)
    await remove()
    await clock.advance(15 * DAY_MS)
    await bench.turn()
    assert.equal((await deleted.list()).length, 1, 'the first of two deletions is no reason')
    await clock.advance(16 * DAY_MS)
    await bench.turn()
    assert.deepEqual(await deleted.list(), [])
    await assert.rejects(deleted.restore(operator, externalId), { code: 'not_found' })
    assert.equal(
      await db.query.selectFrom('notes').select('id').where('project_id', '=', projectId).executeTakeFirst(),
      undefined,
    )
  })

  test('a purge that has begun cannot be taken back, and goes on where it was left', async () => {
    const { db, operator, deleted } = await world(await open())
    const { externalId } = await filled(db, 250)
    const { purge } = await deleted.delete(operator, { pathId: externalId, deleteNotes: false })
    const controller = new AbortController()
    const stopped = purgeProject({ db, signal: controller.signal, onProgress: () => controller.abort() }, purge)
    await assert.rejects(stopped, { name: 'AbortError' })
    await assert.rejects(deleted.restore(operator, externalId), { code: 'not_found' })
    assert.equal((await rowsLeft(db)).notes, 150)
    await purgeProject({ db }, purge)
    assert.equal((await rowsLeft(db)).notes, 0)
  })

  test('the name of a deleted project is free for any number of others', async () => {
    const { operator, projects, deleted } = await world(await open())
    const ids = []
    for (let n = 0; n < 3; n++) {
      const { after } = await projects.create(operator, { name: 'Again' })
      ids.push(after?.externalId as string)
      await deleted.delete(operator, { pathId: ids.at(-1) as string, deleteNotes: false })
    }
    assert.deepEqual(
      (await deleted.list()).map(({ externalId }) => externalId),
      ids.toReversed(),
    )
    await deleted.restore(operator, ids[1] as string)
    await assert.rejects(deleted.restore(operator, ids[0] as string), /A project named 'Again' already exists/)
  })

  test('two processes that create the same project get one', async () => {
    const { db, clock, operator } = await world(await open())
    const services = [db, await openAgain(db)].map((each) => new ProjectService({ db: each, clock }))
    const changes = await Promise.all(
      Array.from({ length: 8 }, (_, n) => services[n % 2]?.create(operator, { name: 'Shared', path: '/shared' })),
    )
    assert.equal(changes.filter((change) => change?.changed).length, 1)
    assert.equal(new Set(changes.map((change) => change?.after?.externalId)).size, 1)
  })

  test('paths overlap by whole segments, whatever characters they have', async () => {
    const { operator, projects } = await world(await open())
    await projects.create(operator, { name: 'wild', path: '/a_b/100%' })
    await projects.create(operator, { name: 'alike', path: '/axb' })
    await projects.create(operator, { name: 'longer', path: '/a_b/100%2' })
    await projects.create(operator, { name: 'wide', path: '/💡/x' })
    for (const path of ['/a_b', '/a_b/100%/deep', '/💡', '/💡/x/y']) {
      await assert.rejects(projects.create(operator, { name: 'new', path }), { code: 'invalid_argument' }, path)
    }
  })

  test('there is a default project as soon as there is one', async () => {
    const { db, operator, projects } = await world(await open())
    await db.write((tx) => tx.query.deleteFrom('projects').execute())
    assert.equal((await projects.create(operator, { name: 'first' })).after?.isDefault, true)
    assert.equal((await projects.create(operator, { name: 'second' })).after?.isDefault, false)
    const again = await projects.create(operator, { name: 'second', setDefault: true })
    assert.deepEqual([again.changed, again.after?.isDefault], [false, true])
    assert.deepEqual(
      (await projects.list()).map(({ name, isDefault }) => [name, isDefault]),
      [
        ['first', false],
        ['second', true],
      ],
    )
  })

  test('the facts of a project count every note once, however many slices that takes', async () => {
    const { db, clock } = await world(await open())
    const now = clock.now()
    const ago = (days: number) => now - days * DAY_MS * MICROS_PER_MS
    const many = Array.from({ length: 1_100 }, (_, n) => ({ path: `m/${n}.md`, updatedAt: 1_000 + (n >> 3) }))
    const fact = (category: string) => ({ category, content: 'x' })
    const { projectId } = await writeNoteRows(db, [
      ...many,
      {
        path: 'hub.md',
        type: 'person',
        updatedAt: ago(0),
        observations: [fact('idea'), fact('idea'), fact('fact')],
        links: ['leaf.md', { to: 'missing', type: 'cites' }, { to: 'leaf.md', isRepeat: true }],
      },
      { path: 'leaf.md', updatedAt: ago(40), links: [{ to: 'hub.md', type: 'cites' }] },
    ])
    await writeNoteRows(db, [{ path: 'other.md', observations: [fact('foreign')] }])
    const facts = await db.read((snapshot) => projectFacts(snapshot, projectId, now))
    const { notes, observations, relations, unresolved, isolated } = facts
    assert.deepEqual([notes, observations, relations, unresolved, isolated], [1_102, 3, 3, 1, 1_100])
    assert.deepEqual(facts.noteTypes, { note: 1_101, person: 1 })
    assert.deepEqual(facts.categories, { idea: 2, fact: 1 })
    assert.deepEqual(facts.relationTypes, { cites: 2, links_to: 1 })
    assert.deepEqual(
      facts.mostConnected.map(({ note, relations }) => [note.file_path, relations]),
      [
        ['hub.md', 3],
        ['leaf.md', 2],
      ],
    )
    for (const recent of [facts.recentlyCreated, facts.recentlyUpdated]) {
      assert.equal(recent.length, 10)
      assert.deepEqual(
        recent.slice(0, 2).map((note) => note.file_path),
        ['hub.md', 'leaf.md'],
      )
    }
    const grown = facts.months.entries().filter(([, month]) => month.notes > 0)
    assert.deepEqual(grown, [
      ['2030-05', { notes: 1, observations: 0, relations: 1 }],
      ['2030-06', { notes: 1, observations: 3, relations: 2 }],
    ])
  })

  test('the facts of a project have long categories and types in part, and those that begin alike as one', async () => {
    const { db, clock } = await world(await open())
    const long = '😀'.repeat(2_000)
    const { projectId } = await writeNoteRows(db, [
      {
        path: 'a.md',
        observations: [`${long}1`, `${long}2`].map((category) => ({ category, content: 'x' })),
        links: ['1', '2'].map((to) => ({ to, type: long + to })),
      },
    ])
    const facts = await db.read((snapshot) => projectFacts(snapshot, projectId, clock.now()))
    assert.deepEqual(facts.categories, { [long]: 2 })
    assert.deepEqual(facts.relationTypes, { [long]: 2 })
  })

  test('an index job reads every note once, batch by batch, and goes on from its place after a failure', async () => {
    const { db, clock, operator } = await world(await open())
    const bench = jobBench(db, { clock })
    const { externalId, projectId, noteIds } = await filled(db, 120)
    const seen: number[] = []
    let failures = 1
    const reindex = async (_tx: unknown, project: { id: number }, noteId: number) => {
      assert.equal(project.id, projectId)
      if (seen.length === 70 && failures-- > 0) throw new Error('A note that could not be read')
      seen.push(noteId)
    }
    bench.engine.register(INDEX_PROJECT, (job, context) => runIndexJob({ db, clock, reindex }, job, context))
    const inside = new ProjectInside({ db, clock })
    assert.deepEqual(await inside.index(operator, { pathId: externalId, inBackground: true }), { notes: 120 })
    assert.deepEqual((await inside.status(externalId)).index, { state: 'waiting', done: 0 })
    await bench.turn()
    assert.deepEqual((await inside.status(externalId)).index, { state: 'waiting', done: 50 })
    await bench.turn()
    assert.deepEqual((await inside.status(externalId)).index, { state: 'waiting', done: 50 })
    seen.length = 50 // what the failed batch did was rolled back
    await clock.advance(3_600_000)
    for (let turn = 0; turn < 3; turn++) await bench.turn()
    assert.equal((await inside.status(externalId)).index, null)
    assert.deepEqual(seen, noteIds)
  })

  test('an index run lets others write behind each note that takes long', async () => {
    const { db } = await world(await open())
    const clock = new FakeClock()
    const { externalId, noteIds } = await filled(db, 6)
    const seen: number[] = []
    const reindex = async (_tx: unknown, _project: unknown, noteId: number) => {
      seen.push(noteId)
      await clock.advance(noteId === noteIds[1] || noteId === noteIds[2] ? 100 : 10)
    }
    const progress: number[] = []
    await indexNow({ db, clock, reindex }, firstIndexWork({ externalId }), (notes) => progress.push(notes))
    assert.deepEqual(progress, [2, 3, 6])
    assert.deepEqual(seen, noteIds)
  })

  test('an index run reads notes that are moved meanwhile, wherever they go', async () => {
    const { db, clock } = await world(await open())
    const { externalId, noteIds } = await filled(db, 120)
    const seen: number[] = []
    const reindex = async (tx: Transaction, _project: unknown, noteId: number) => {
      const move = (id: number | undefined, path: string) =>
        tx.query.updateTable('notes').set({ file_path: path }).where('id', '=', Number(id)).execute()
      if (seen.push(noteId) !== 1) return
      await move(noteIds.at(-1), '0.md')
      await move(noteId, 'zz.md')
    }
    assert.equal(await indexNow({ db, clock, reindex }, firstIndexWork({ externalId })), 120)
    assert.deepEqual(seen, noteIds)
  })

  test('an index run while the caller waits reads every note, and one of a project that is gone reads none', async () => {
    const { db, clock, operator, deleted } = await world(await open())
    const { externalId, noteIds } = await filled(db, 60)
    const seen: number[] = []
    const reindex = async (_tx: unknown, _project: unknown, noteId: number) => void seen.push(noteId)
    assert.equal(await indexNow({ db, clock, reindex }, firstIndexWork({ externalId })), 60)
    assert.deepEqual(seen, noteIds)
    await deleted.delete(operator, { pathId: externalId, deleteNotes: false })
    assert.equal(await indexNow({ db, clock, reindex }, firstIndexWork({ externalId })), 0)
  })
})
