import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Kysely, sql } from 'kysely'
import { type IndexWork, indexNow } from '../../src/knowledge/project/index-project.ts'
import { notesWithoutRows } from '../../src/knowledge/search/index/store-search-rows.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import * as readAgain from '../../src/platform/storage/migrations/0013-read-again.ts'
import { type NotesWorld, openWorld } from '../knowledge/notes-world.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'

interface Queued {
  coalesce_key: string | null
  payload: string
}

function queued(db: Database): Promise<Queued[]> {
  return db.query
    .selectFrom('jobs')
    .select(['coalesce_key', 'payload'])
    .where('kind', '=', 'knowledge.index-project')
    .where('state', '=', 'waiting')
    .orderBy('coalesce_key')
    .execute()
}

async function create({ notes, writer, projectId }: NotesWorld, title: string, content: string, aliases?: string[]) {
  const metadata = aliases === undefined ? null : { aliases }
  return (await notes.create(writer, projectId, { title, content, directory: '', noteType: null, metadata })).id
}

/** As an earlier version left it: a name with `::` had one key, and links with it were bound to nothing. */
async function forgetKeys(db: Database): Promise<void> {
  await db.write(async (tx) => {
    await sql`delete from note_names where name_key like 'std/%'`.execute(tx.query)
    await sql`update relations set to_id = null where target_key like 'std/%'`.execute(tx.query)
  })
}

function migrate(db: Database): Promise<void> {
  return db.write((tx) => readAgain.up(tx.query as unknown as Kysely<unknown>, tx.engine))
}

async function targets(db: Database, noteId: number): Promise<(number | null)[]> {
  const query = db.query.selectFrom('relations').select('to_id').where('from_id', '=', noteId)
  return (await query.orderBy('position').execute()).map(({ to_id }) => to_id)
}

eachDatabase('what an earlier version read in another way', ({ engine, open }) => {
  test('is written to the index of PostgreSQL anew where values of a note are in another Unicode form', async () => {
    const db = await open()
    const { operator } = await installed(db)
    const world = await openWorld(db, operator, 'forms')
    await create(world, 'Composed', 'text', ['caf\u00e9'])
    const decomposed = await create(world, 'Decomposed', 'cafe\u0301', ['cafe\u0301'])
    await migrate(db)
    if (engine === 'sqlite') return
    assert.deepEqual(await notesWithoutRows(db, 0, 10), [{ id: decomposed, project_id: world.project.id }])
  })

  test('is read anew in projects with names that have ::, whose links are bound', async () => {
    const db = await open()
    const { operator } = await installed(db)
    const titled = await openWorld(db, operator, 'titled')
    const vector = await create(titled, 'std::vector', 'text')
    const linker = await create(titled, 'Linker', '[[std::vector]] [[titled/std/vector]]')
    const aliased = await openWorld(db, operator, 'aliased')
    const map = await create(aliased, 'Map', 'text', ['std::map'])
    const other = await create(aliased, 'Other', '[[std::map]]')
    await create(await openWorld(db, operator, 'plain'), 'Plain: note', 'text')
    await forgetKeys(db)
    await migrate(db)
    const jobs = await queued(db)
    assert.deepEqual(
      jobs.map(({ coalesce_key }) => coalesce_key),
      [titled, aliased].map(({ project }) => String(project.id)),
    )
    for (const { payload } of jobs) await indexNow(titled.deps, JSON.parse(payload) as IndexWork)
    assert.deepEqual(await targets(db, linker), [vector, vector])
    assert.deepEqual(await targets(db, other), [map])
  })

  test('is read anew from the beginning where such work was under way', async () => {
    const db = await open()
    const { operator } = await installed(db)
    const world = await openWorld(db, operator, 'busy')
    await create(world, 'std::vector', 'text')
    await migrate(db)
    const [first] = await queued(db)
    await db.write((tx) =>
      sql`update jobs set payload = ${JSON.stringify({ externalId: world.projectId, afterId: 99, done: 99 })}`.execute(
        tx.query,
      ),
    )
    await migrate(db)
    assert.deepEqual(await queued(db), [first])
  })
})
