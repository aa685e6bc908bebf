import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  deleteRevisions,
  findRevision,
  keepRevision,
  listRevisions,
} from '../../src/knowledge/history/store-revisions.ts'
import type { NoteWithContent, Project } from '../../src/knowledge/note/note.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { eachDatabase } from '../support/each-database.ts'
import { addProject, plainNote } from '../support/plain-notes.ts'

eachDatabase('past versions of notes', (context) => {
  test('every version of any sequence of texts is read back as it was', async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    let nextId = 1
    const piece = fc.constantFrom('a', '\n', '\u{1f600}', '\u{1f601}', 'é', '日本', 'long '.repeat(50))
    const text = fc.array(piece, { maxLength: 30 }).map((parts) => parts.join(''))
    const sequence = fc.array(text, { minLength: 2, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(sequence, async (texts) => readBack(db, project, nextId++, texts)),
      { numRuns: 40 },
    )
  })

  test('a long row of small changes is read back from every version', async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    const texts = Array.from({ length: 100 }, (_, index) => `${'same '.repeat(20)}${index}${' end'.repeat(20)}`)
    await readBack(db, project, 1, texts)
    const rows = await db.query.selectFrom('note_revisions').select(['version', 'kept_head']).execute()
    const whole = rows.filter((row) => row.kept_head === null).map((row) => row.version)
    assert.deepEqual(
      whole.toSorted((a, b) => a - b),
      [32, 64, 96],
    )
  })

  test('a long row of small changes is read back although version numbers are left out', async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    const textOf = (version: number) => `${'same '.repeat(20)}${version}${' end'.repeat(20)}`
    const versions = Array.from({ length: 100 }, (_, index) => index + 1).filter((version) => version % 32 !== 0)
    const note = plainNote(project, 1, { content: textOf(101) })
    await db.write(async (tx) => {
      for (const version of versions) {
        const isLeftOut = (version + 1) % 32 === 0
        await keepRevision(tx, { ...note, version, content: textOf(version) }, isLeftOut ? null : textOf(version + 1))
      }
    })
    for (const version of versions) assert.equal((await findRevision(db, note, version))?.content, textOf(version))
    assert.equal(await findRevision(db, note, 32), undefined)
  })

  test('no texts are read behind the first whole one: each may be as long as a book', async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    const texts = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(200))
    await readBack(db, project, 1, texts)
    let read = 0
    const query = db.query.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        read += result.rows.length
        return result
      },
    })
    const reader = { engine: db.engine, query, run: db.run.bind(db) }
    assert.equal((await findRevision(reader, { id: 1, content: texts[9] as string }, 3))?.content, texts[2])
    assert.equal(read, 1)
  })

  test('they are forgotten some at a time, as texts that are as long as books must be, and all of them', async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    for (const id of [1, 2, 3]) {
      await readBack(
        db,
        project,
        id,
        Array.from({ length: 31 }, (_, index) => `${index}`.repeat(200)),
      )
    }
    await readBack(
      db,
      project,
      4,
      ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(1_100_000)),
    )
    const deleted = await db.write(async (tx) => {
      const counts: number[] = []
      const change: typeof tx.change = async (statement, input) => {
        const count = await tx.change(statement, input)
        counts.push(count)
        return count
      }
      await deleteRevisions({ engine: tx.engine, query: tx.query, change } as typeof tx, [1, 3, 4])
      return counts
    })
    if (db.engine === 'sqlite') assert.deepEqual(deleted, [20, 20, 20, 1, 1, 1, 0])
    const left = await db.query.selectFrom('note_revisions').select('note_id').execute()
    assert.deepEqual(
      left.map(({ note_id: id }) => id),
      Array.from({ length: 30 }, () => 2),
    )
  })

  test('they are listed newest first, page by page', async () => {
    const db = await context.open()
    const project = await addProject(db, 'main')
    await readBack(db, project, 1, ['a', 'b', 'c', 'd', 'e'])
    const versions = async (below: number) => (await listRevisions(db, 1, below, 2)).map(({ version }) => version)
    assert.deepEqual(await versions(5), [4, 3])
    assert.deepEqual(await versions(3), [2, 1])
    assert.deepEqual(await versions(1), [])
    assert.equal(await findRevision(db, { id: 1, content: 'e' }, 9), undefined)
  })

  async function readBack(db: Database, project: Project, id: number, texts: readonly string[]): Promise<void> {
    const note = await db.write(async (tx) => {
      let newest: NoteWithContent = plainNote(project, id, { content: texts[0] as string })
      for (const content of texts.slice(1)) {
        await keepRevision(tx, newest, content)
        newest = { ...newest, version: newest.version + 1, content }
      }
      return newest
    })
    for (const [index, content] of texts.slice(0, -1).entries()) {
      assert.equal((await findRevision(db, note, index + 1))?.content, content)
    }
  }
})
