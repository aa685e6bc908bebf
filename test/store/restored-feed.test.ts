import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { readChanges } from '../../src/knowledge/history/changes-feed.ts'
import { recordChange } from '../../src/knowledge/history/store-changes.ts'
import type { Project } from '../../src/knowledge/note/note.ts'
import { createBackup } from '../../src/platform/backup/backup.ts'
import { restoreBackup } from '../../src/platform/backup/restore.ts'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { eachDatabase } from '../support/each-database.ts'
import { addProject, plainNote } from '../support/plain-notes.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { tempDir } from '../support/temp-dir.ts'

const clock = new SystemClock()
const log = silentLogger()

eachDatabase('the feed of changes after a restore', ({ engine, open, placeOf }) => {
  async function change(db: Database, project: Project, ...numbers: number[]): Promise<void> {
    for (const number of numbers) {
      const note = plainNote(project, number)
      await db.write((tx) => recordChange(tx, project, note, { change: 'created', at: clock.now(), by: null }))
    }
  }

  function read(db: Database, project: Project, since?: string) {
    const question = { projectId: project.externalId, since, limit: 100, waitMs: 0 }
    return readChanges({ db, clock }, question, new AbortController().signal)
  }

  /** The same data as they were, elsewhere. */
  async function restored(file: string): Promise<Database> {
    const target = await open({ migrated: false })
    await target.close()
    await restoreBackup({ file, ...placeOf(target), clock, log })
    return openDatabase({ ...placeOf(target), clock, log })
  }

  for (const format of engine === 'sqlite' ? (['sqlite', 'dump'] as const) : (['dump'] as const)) {
    test(`refuses cursors from before: ${format} gives their numbers to other changes`, async () => {
      const db = await open()
      const project = await addProject(db, 'main')
      await change(db, project, 1, 2)
      const files = [join(tempDir(), 'first'), join(tempDir(), 'second')] as const
      await createBackup({ db, file: files[0], clock, format })
      await change(db, project, 3, 4, 5)
      const lost = await read(db, project)
      await using copy = await restored(files[0])
      await change(copy, project, 6, 7, 8, 9)
      await assert.rejects(read(copy, project, lost.cursor), { code: 'gone' })
      const { changes, cursor } = await read(copy, project)
      assert.equal(changes.length, 6)
      await createBackup({ db: copy, file: files[1], clock, format })
      await change(copy, project, 10)
      assert.equal((await read(copy, project, cursor)).changes.length, 1)
      await using again = await restored(files[1])
      await change(again, project, 11, 12)
      await assert.rejects(read(again, project, cursor), { code: 'gone' })
      const now = await read(again, project, 'now')
      await change(again, project, 13)
      assert.equal((await read(again, project, now.cursor)).changes.length, 1)
    })
  }
})
