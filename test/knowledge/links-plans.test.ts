import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { notesByIds } from '../../src/knowledge/context/store-context.ts'
import { backlinksOf } from '../../src/knowledge/link/backlinks.ts'
import { RelationBinder } from '../../src/knowledge/link/store-bindings.ts'
import { deleteNames, findNames, insertNames } from '../../src/knowledge/link/store-names.ts'
import { boundRelations } from '../../src/knowledge/link/store-relations.ts'
import { waitingRelations } from '../../src/knowledge/link/store-waiting-relations.ts'
import { hitNotes } from '../../src/knowledge/search/answer/store-search-hits.ts'
import { searchedNotes } from '../../src/knowledge/search/find/store-search-notes.ts'
import type { Reader } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { LinkedNotes } from './links-fixture.ts'
import { relationsOf } from './relations-of.ts'
import { resolveExactly } from './resolve-exactly.ts'
import { planOf, refuseShortCuts, SCAN, watchedReader, watchedWriter } from './watched-reader.ts'

const NAMES_SCAN = /^SCAN (n|c|note_names)\b/m

function texts(count: number) {
  return Array.from({ length: count }, (_, at) => ({ target: `Name ${at}`, name: `Name ${at}` }))
}

eachDatabase('plans of links', ({ open }) => {
  async function plansOf(notes: LinkedNotes, work: (reader: Reader) => Promise<unknown>): Promise<string[]> {
    return notes.db.write(async (tx) => {
      await refuseShortCuts(tx)
      const { reader, statements } = watchedReader(tx)
      await work(reader)
      const plans: string[] = []
      for (const statement of statements) plans.push(await planOf(tx, statement))
      return plans
    })
  }

  test('two hundred links of a note are resolved by one query', async () => {
    const notes = await LinkedNotes.open(await open())
    const { reader, statements } = watchedReader(notes.db)
    await resolveExactly(reader, notes.project, 'a/b.md', texts(200))
    assert.equal(statements.length, 1)
  })

  test('no table is read from end to end to resolve, to bind, or to show relations and backlinks', async () => {
    const notes = await LinkedNotes.open(await open())
    const note = await notes.add({ path: 'a/Target.md', body: '[[Target]] [[Other]]' })
    await notes.add({ path: 'b.md', body: '[[Target]]' })
    const plans = await plansOf(notes, async (reader) => {
      await resolveExactly(reader, notes.project, 'a/b.md', texts(3))
      for (const column of ['target_key', 'whole_key', 'part_key'] as const) {
        await waitingRelations(reader, notes.project.id, column, ['a', 'b', 'c'])
      }
      await relationsOf(reader, note)
      await boundRelations(reader, note.id, -1)
      await backlinksOf(reader, notes.project, note, { page: 2, pageSize: 10 })
    })
    assert.equal(plans.length, 8)
    for (const plan of plans) {
      assert.doesNotMatch(plan, SCAN)
      assert.doesNotMatch(plan, NAMES_SCAN)
    }
  })

  test('those who wait for a note are read in the order of the index, not sorted for each batch', async () => {
    const notes = await LinkedNotes.open(await open())
    const [plan] = await plansOf(notes, (reader) =>
      waitingRelations(reader, notes.project.id, 'target_key', ['a', 'b']),
    )
    assert.doesNotMatch(plan ?? '', /USE TEMP B-TREE/)
  })

  test('names and relations are looked up one by one and bound together, also in tables that nothing is known of', async () => {
    const notes = await LinkedNotes.open(await open())
    const body = Array.from({ length: 5_000 }, (_, at) => `[[Other ${at}]]`).join('\n')
    const note = await notes.add({ path: 'a/Target.md', body: `[[Target]]\n${body}` })
    await notes.db.write(async (tx) => {
      const watched = watchedReader(tx)
      await findNames(watched.reader, notes.project.id, ['target', 'other', 'third'])
      await boundRelations(watched.reader, note.id, -1)
      const { writer, statements } = watchedWriter(tx)
      const binder = new RelationBinder(writer)
      for (const first of [1, 3]) {
        await binder.bind(
          [first, first + 1].map((position) => ({ from_id: note.id, position, to_id: note.id, anchor: null })),
        )
      }
      await binder.end()
      // Those of a batch are bound together, and what repeats another is looked for once, however many are bound.
      assert.equal(statements.length, 3)
      for (const statement of [...watched.statements, ...statements]) {
        const plan = await planOf(tx, statement)
        assert.doesNotMatch(plan, SCAN)
        assert.doesNotMatch(plan, /Hash Join|Merge Join|Hash Semi Join/)
      }
    })
  })

  test('names are taken away one by one, not found among all of the project, also in a table that nothing is known of', async () => {
    const notes = await LinkedNotes.open(await open())
    const { db, project } = notes
    await db.write(async (tx) => {
      const many = Array.from({ length: 2_000 }, (_, at) => ({ key: `name ${at}`, kind: 0, value: '' }))
      await insertNames(tx, { projectId: project.id, noteId: 1 }, many)
      const { writer, statements } = watchedWriter(tx)
      await deleteNames(writer, { projectId: project.id, noteId: 1 }, many.slice(0, 3))
      for (const statement of statements) {
        assert.match(
          await planOf(tx, statement),
          /Index (Only )?Scan using note_names_pkey.*\n +Index Cond: .*name_key/,
        )
      }
      const { rows } = await sql<{ left: number }>`select count(*) as left from note_names where note_id = 1`.execute(
        tx.query,
      )
      assert.equal(rows[0]?.left, 1_997)
    })
  })

  test('notes that were found are looked up one by one, not among all of the project', async () => {
    const notes = await LinkedNotes.open(await open())
    const { id } = await notes.add({ path: 'a.md', body: 'a' })
    const plans = await plansOf(notes, async (reader) => {
      await hitNotes(reader, notes.project.id, [id])
      await searchedNotes(reader, notes.project.id, [id])
      await notesByIds(reader, notes.project.id, [id])
    })
    assert.equal(plans.length, 3)
    for (const plan of plans) assert.match(plan, /SEARCH notes USING INTEGER PRIMARY KEY|using notes_pkey/i)
  })
})
