import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { filesAt } from '../../src/knowledge/directory/store-directory.ts'
import { findExactNames, findExternalIds, findNames } from '../../src/knowledge/link/store-names.ts'
import { waitingRelations } from '../../src/knowledge/link/store-waiting-relations.ts'
import { findNote } from '../../src/knowledge/note/store-notes.ts'
import { areUnchanged } from '../../src/knowledge/search/answer/store-unchanged.ts'
import { notesChangedSince } from '../../src/knowledge/semantic/sync/store-changed-since.ts'
import { changedNotes, storedChunks } from '../../src/knowledge/semantic/sync/store-notes-to-embed.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { writeNoteRows } from './note-rows.ts'
import { planOf, watchedReader } from './watched-reader.ts'

async function writeProject(db: Database, count: number): Promise<number> {
  const paths = Array.from({ length: count }, (_, n) => `d/note ${n}.md`)
  const { projectId } = await writeNoteRows(
    db,
    paths.map((path, n) => ({ path, links: [`lost ${n}`] })),
  )
  await db.write(async ({ query }) => {
    await sql`insert into note_names (project_id, note_id, name_key, kind, value)
      select project_id, id, title, 0, '' from notes where project_id = ${projectId}`.execute(query)
    await sql`insert into note_changes (project_id, external_id, change, version, file_path, changed_at)
      select project_id, external_id, 'created', 1, file_path, 1 from notes where project_id = ${projectId}`.execute(
      query,
    )
    await sql`insert into note_vectors (project_id, model_id, note_id, kind, position, number, hash, start_at, end_at, vector)
      select project_id, 1, id, 0, 0, 0, '', 0, 1, '' from notes where project_id = ${projectId}`.execute(query)
  })
  return projectId
}

eachDatabase('a new project beside a large one', ({ open, engine }) => {
  test('has its notes looked up by their keys, though PostgreSQL has not counted it', async () => {
    const db = await open()
    if (engine === 'sqlite') return
    await writeProject(db, 3_000)
    await sql`analyze`.execute(db.query)
    const projectId = await writeProject(db, 300)
    const { reader, statements } = watchedReader(db)
    const key = { projectId, modelId: 1 }
    await findNames(reader, projectId, ['a', 'b', 'c'])
    await findExactNames(reader, projectId, ['a', 'b', 'c'])
    await findExternalIds(reader, projectId, ['a'])
    await waitingRelations(reader, projectId, 'target_key', ['a', 'b'])
    await findNote(reader, projectId, 'a')
    await filesAt(reader, projectId, ['a'])
    await changedNotes(reader, key, 0, 100)
    await storedChunks(reader, key, [1, 2])
    await notesChangedSince(reader, projectId, 0, [1, 2])
    await areUnchanged(reader, projectId, 0, new Set([1, 2]))
    for (const seen of statements) {
      const plan = await planOf(db, seen)
      // What is found by its project alone is all that is in it, and what is compared after that, compared with all of it.
      assert.doesNotMatch(plan, /Index Cond: \(project_id = '\d+'::bigint\)\n\s+Filter/, `${seen.sql}\n${plan}`)
      assert.doesNotMatch(plan, /Join Filter/, `${seen.sql}\n${plan}`)
    }
  })
})
