import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Kysely, sql } from 'kysely'
import type { NoteInput } from '../../src/knowledge/note/note-input.ts'
import { purgeProject } from '../../src/knowledge/project/purge-project.ts'
import { markDeleted } from '../../src/knowledge/project/store-deleted-projects.ts'
import { writeOutdatedRows } from '../../src/knowledge/search/index/outdated-rows.ts'
import { notesWithoutRows } from '../../src/knowledge/search/index/store-search-rows.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import * as searchAgain from '../../src/platform/storage/migrations/0012-search-again.ts'
import * as searchVariants from '../../src/platform/storage/migrations/0015-search-variants.ts'
import type { Migration } from '../../src/platform/storage/migrations/index.ts'
import { type NotesWorld, openWorld } from '../knowledge/notes-world.ts'
import { eachDatabase } from '../support/each-database.ts'
import { installed } from '../support/identity.ts'
import { somebodyWaits } from '../support/somebody-waits.ts'

/** The same database, except that every change waits for something before it is committed. */
function held(db: Database, beforeCommit: () => Promise<unknown>): Database {
  return new Proxy(db, {
    get(_, name) {
      if (name === 'write') {
        return ((work, options) =>
          db.write(async (tx) => {
            const value = await work(tx)
            // Behind what was sent without waiting for it.
            await sql`select 1`.execute(tx.query)
            await beforeCommit()
            return value
          }, options)) satisfies Database['write']
      }
      const value = Reflect.get(db, name, db)
      return typeof value === 'function' ? value.bind(db) : value
    },
  })
}

async function indexedRows(db: Database): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from note_search`.execute(db.query)
  return rows[0]?.n as number
}

eachDatabase('rows of the index that are written anew', ({ engine, open }) => {
  if (engine === 'sqlite') return

  test('are those of notes whose words were others in an earlier version', async () => {
    const db = await open()
    const { operator } = await installed(db)
    const { notes, writer, projectId } = await openWorld(db, operator, 'again')
    const create = async (title: string, content: string) => {
      const note = { title, content, directory: '', noteType: null, metadata: null }
      return (await notes.create(writer, projectId, note)).id
    }
    const isOutdated = async (migration: Migration, changed: readonly number[]) => {
      await db.write((tx) => migration.up(tx.query as unknown as Kysely<unknown>, 'postgres'))
      const outdated = await notesWithoutRows(db, 0, 20)
      assert.deepEqual(
        outdated.map(({ id }) => id),
        changed,
      )
      assert.equal(await writeOutdatedRows(db), changed.length)
      assert.equal(await writeOutdatedRows(db), 0)
    }
    await create('Plain', 'naïve – 東京 → © steamship 42\n- a thought #idea')
    await isOutdated(searchAgain, [
      await create('A soft hyphen', 'steam\u00adship'),
      await create('Steam\u2060ships', 'none'),
      await create('An emoji', 'launch \u{1f680}'),
      await create('Ideas \u{1f4a1}', 'none'),
      await create('A look', '葛\u{e0100}飾'),
      await create('A look of an emoji', '\u2600\ufe0f'),
      await create('A category', '- [fact] a thought'),
    ])
    await isOutdated(searchVariants, [
      await create('Digits', 'سنة ٢٠٢٤'),
      await create('२०२४', 'none'),
      await create('A letter', 'کتاب'),
      await create('A form of a letter', 'ﻛﺘﺎﺏ'),
      await create('A joiner', 'ශ්\u200dරී'),
    ])
  })

  const DELETIONS: [what: string, deletion: (world: NotesWorld, noteId: string) => Promise<unknown>][] = [
    ['note', ({ notes, writer, projectId }, noteId) => notes.delete(writer, { projectId, noteId }, {})],
    [
      'project',
      async ({ deps: { db }, writer, project }) => {
        await db.write((tx) => markDeleted(tx, project, 'deleted', 7))
        const { organizationId } = writer.principal
        await purgeProject({ db }, { projectId: project.id, deletedAt: 7, organizationId })
      },
    ],
  ]
  for (const [what, deletion] of DELETIONS) {
    test(`go with their ${what}, which is deleted before they are committed`, async () => {
      const db = await open()
      const { operator } = await installed(db)
      const world = await openWorld(db, operator, 'outdated')
      const text: NoteInput = { title: 'Old', directory: '', content: '- [fact] one', noteType: null, metadata: null }
      const { external_id: noteId } = await world.notes.create(world.writer, world.projectId, text)
      await db.write((tx) => sql`delete from note_search`.execute(tx.query))
      let deleted: Promise<unknown> | undefined
      const written = await writeOutdatedRows(
        held(db, async () => {
          deleted = deletion(world, noteId)
          await Promise.race([deleted, somebodyWaits(db)])
        }),
      )
      await deleted
      assert.deepEqual([written, await indexedRows(db)], [1, 0])
    })
  }
})
