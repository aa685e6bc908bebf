import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { graphText } from '../../src/knowledge/graph/write-graph.ts'
import { orphansText } from '../../src/knowledge/graph/write-orphans.ts'
import { eachDatabase } from '../support/each-database.ts'
import { writeNoteRows } from './note-rows.ts'
import { planOf, refuseShortCuts, SCAN, SORT, watchedReader } from './watched-reader.ts'

const TINY = { notesPerRange: 4, edgesPerChunk: 3 }

eachDatabase('how a graph is read', ({ open, engine }) => {
  test('no statement reads a table from end to end or sorts it', async () => {
    const db = await open()
    const paths = Array.from({ length: 30 }, (_, n) => `d${n % 3}/note ${n}.md`)
    const rows = paths.map((path, n) => ({ path, links: n % 5 === 0 ? [] : paths.slice(0, 5) }))
    const { projectId } = await writeNoteRows(db, rows)
    await db.write(async (tx) => {
      await refuseShortCuts(tx)
      const { reader, statements } = watchedReader(tx)
      for (const typeKeys of [null, ['note', 'other']]) {
        for (const folder of [null, 'd1']) {
          for (const limit of [null, 3]) {
            await drain(graphText(reader, { projectId, typeKeys, folder, limit, after: null }, TINY))
          }
        }
      }
      await drain(orphansText(reader, { projectId, limit: null, cursor: null }, 7))
      await drain(orphansText(reader, { projectId, limit: 2, cursor: null }, 7))
      assert.ok(statements.length > 50)
      for (const seen of new Map(statements.map((one) => [one.sql, one])).values()) {
        const plan = await planOf(tx, seen)
        assert.doesNotMatch(plan, SCAN, `${seen.sql}\n${plan}`)
        if (engine === 'sqlite') assert.doesNotMatch(plan, SORT, `${seen.sql}\n${plan}`)
      }
    })
  })

  test('of a project that the statistics do not know yet, PostgreSQL compares no note with all others', async () => {
    const db = await open()
    if (engine === 'sqlite') return
    const notesOf = (count: number) => {
      const paths = Array.from({ length: count }, (_, n) => `d/note ${n}.md`)
      return paths.map((path) => ({ path, links: paths.slice(0, 20) }))
    }
    await writeNoteRows(db, notesOf(600))
    await sql`analyze`.execute(db.query)
    const { projectId } = await writeNoteRows(db, notesOf(300))
    const { reader, statements } = watchedReader(db)
    for (const typeKeys of [null, ['note']]) {
      for (const folder of [null, 'd']) {
        await drain(graphText(reader, { projectId, typeKeys, folder, limit: null, after: null }))
      }
    }
    const ofEdges = statements.filter(({ sql: text }) => text.includes('target'))
    assert.ok(ofEdges.length >= 4)
    for (const seen of new Map(ofEdges.map((one) => [one.sql, one])).values()) {
      const plan = await planOf(db, seen)
      assert.match(plan, /Index Cond: \(id = r\.to_id\)/, `${seen.sql}\n${plan}`)
    }
  })
})

async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _chunk of chunks);
}
