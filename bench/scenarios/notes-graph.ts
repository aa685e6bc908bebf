import { DatabaseSync } from 'node:sqlite'
import { moveAll, startWithNotes } from '../notes-server.ts'
import { median, type Scenario } from '../scenario.ts'
import { TOKEN } from '../server-process.ts'

const NOTES = 10_000
const LINKS = 5
const ROUNDS = 10

/** What the graph needs, as plainly as it can be asked for. */
const NODES = 'select external_id, title, note_type, file_path from notes order by file_path'
const EDGES = `
  select f.external_id as from_id, t.external_id as to_id, r.relation_type
  from relations r join notes f on f.id = r.from_id join notes t on t.id = r.to_id
  where r.is_repeat = 0 order by f.file_path, r.position`

export const scenario: Scenario = {
  description: `the graph of ${NOTES} notes with ${LINKS} links each against reading its rows and JSON.stringify, and moving a folder with all of them, SQLite`,
  async run(say) {
    const server = await startWithNotes(say, NOTES, { links: LINKS })
    const { product, directory, base: path } = server
    const base = `${product.url}${path}`
    const headers = { authorization: `Bearer ${TOKEN}` }
    const db = new DatabaseSync(`${directory}/commonplace.db`, { readOnly: true })

    const ours: number[] = []
    const theirs: number[] = []
    let bytes = 0
    // The first round only warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      const began = performance.now()
      const body = await (await fetch(`${base}/graph`, { headers })).arrayBuffer()
      const graphMs = performance.now() - began
      const plainBegan = performance.now()
      const text = JSON.stringify({ nodes: db.prepare(NODES).all(), edges: db.prepare(EDGES).all() })
      const plainMs = performance.now() - plainBegan
      if (Buffer.byteLength(text) !== body.byteLength) throw new Error('The graph is not what its rows are')
      bytes = body.byteLength
      if (round === 0) continue
      ours.push(graphMs)
      theirs.push(plainMs)
    }
    db.close()

    const moveMs = await moveAll(server, NOTES)
    await product.stop()
    const times = median(ours.map((ms, round) => ms / (theirs[round] as number)))
    return {
      columns: ['what', 'ms', 'kB', 'x of plain'],
      rows: [
        ['rows and JSON.stringify', median(theirs), bytes / 1000, 1],
        ['GET graph', median(ours), bytes / 1000, times],
        [`move-directory of ${NOTES} notes`, moveMs, null, null],
      ],
      targets: [
        { name: 'graph against its rows and JSON.stringify', value: times, unit: 'x', below: 3 },
        { name: 'moving a folder', value: moveMs, unit: 'ms', below: 3_000 },
      ],
      details: { ours, theirs },
    }
  },
}
