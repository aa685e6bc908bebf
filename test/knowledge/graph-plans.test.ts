import assert from 'node:assert/strict'
import { test } from 'node:test'
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
})

async function drain(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _chunk of chunks);
}
