import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphQueryOf } from '../../src/knowledge/graph/graph-query.ts'
import { decodePathCursor } from '../../src/knowledge/graph/path-cursor.ts'
import { type GraphQuery, type GraphSizes, graphText } from '../../src/knowledge/graph/write-graph.ts'
import { orphansText } from '../../src/knowledge/graph/write-orphans.ts'
import type { Chunk } from '../../src/knowledge/snapshot/snapshot-stream.ts'
import { eachDatabase } from '../support/each-database.ts'
import { type NoteRow, writeNoteRows } from './note-rows.ts'

const WHOLE = { typeKeys: null, folder: null, limit: null, after: null }
const TINY: GraphSizes = { notesPerRange: 2, edgesPerChunk: 3 }

// Code point order is neither alphabetical nor that of UTF-16: the last one is above the private use area.
const PATHS = ['B.md', 'a b.md', 'a-b/c.md', 'a.md', 'a/b.md', 'a/b/c.md', 'a0.md', 'z "q" \\.md', '\ue000.md', '😀.md']

async function collect(chunks: AsyncIterable<Chunk>) {
  const parts: Buffer[] = []
  for await (const chunk of chunks) parts.push(Buffer.from(chunk as string))
  return JSON.parse(Buffer.concat(parts).toString())
}

async function countPieces(chunks: AsyncIterable<Chunk>): Promise<number> {
  let pieces = 0
  for await (const _ of chunks) pieces++
  return pieces
}

eachDatabase('the text of a graph', ({ open }) => {
  test('has all nodes by path and all edges by path and order, however it is cut', async () => {
    const db = await open()
    const links = [
      'a.md',
      'nowhere',
      '😀.md',
      { to: 'a.md', isRepeat: true },
      { to: 'a.md', type: 'a "type"' },
      'B.md',
      'a/b.md',
    ]
    const rows: NoteRow[] = PATHS.toReversed().map((path) => ({ path, links }))
    const { projectId, externalIds } = await writeNoteRows(db, rows)
    const id = (path: string) => externalIds.get(path)
    const nodes = PATHS.map((path) => {
      const title = path.slice(path.lastIndexOf('/') + 1, -3)
      return { external_id: id(path), title, note_type: 'note', file_path: path }
    })
    const edges = PATHS.flatMap((path) => [
      { from_id: id(path), to_id: id('a.md'), relation_type: 'links_to' },
      { from_id: id(path), to_id: id('😀.md'), relation_type: 'links_to' },
      { from_id: id(path), to_id: id('a.md'), relation_type: 'a "type"' },
      { from_id: id(path), to_id: id('B.md'), relation_type: 'links_to' },
      { from_id: id(path), to_id: id('a/b.md'), relation_type: 'links_to' },
    ])
    for (const notesPerRange of [1, 2, 3, 10, 256]) {
      for (const edgesPerChunk of [1, 2, 5, 7, 4_000]) {
        const graph = await collect(graphText(db, { projectId, ...WHOLE }, { notesPerRange, edgesPerChunk }))
        assert.deepEqual(graph, { nodes, edges }, `${notesPerRange} notes, ${edgesPerChunk} edges`)
      }
    }
  })

  test('is empty for a project without notes, and knows nothing of other projects', async () => {
    const db = await open()
    await writeNoteRows(db, [{ path: 'other.md', links: ['other.md'] }])
    const { projectId } = await writeNoteRows(db, [])
    assert.deepEqual(await collect(graphText(db, { projectId, ...WHOLE })), { nodes: [], edges: [] })
    const page = await collect(graphText(db, { projectId, ...WHOLE, limit: 5 }))
    assert.deepEqual(page, { nodes: [], edges: [], next_cursor: null })
  })

  test('shows with a filter only edges between notes that pass it', async () => {
    const db = await open()
    const links = ['x/1.md', 'x/2.md', 'x1.md', 'y.md']
    const { projectId, externalIds } = await writeNoteRows(db, [
      { path: 'x/1.md', type: 'Person', links },
      { path: 'x/2.md', links },
      { path: 'x/y/3.md', type: 'person', links },
      { path: 'x1.md', type: 'Person', links },
      { path: 'y.md', links },
    ])
    const shown = async (query: Partial<GraphQuery>) => {
      const graph = await collect(graphText(db, { projectId, ...WHOLE, ...query }, TINY))
      const pathOf = new Map([...externalIds].map(([path, id]) => [id, path]))
      return {
        nodes: graph.nodes.map((node: { file_path: string }) => node.file_path),
        edges: graph.edges.map((edge: { from_id: string; to_id: string }) => [
          pathOf.get(edge.from_id),
          pathOf.get(edge.to_id),
        ]),
      }
    }
    assert.deepEqual(await shown({ folder: 'x' }), {
      nodes: ['x/1.md', 'x/2.md', 'x/y/3.md'],
      edges: ['x/1.md', 'x/2.md', 'x/y/3.md'].flatMap((from) => [
        [from, 'x/1.md'],
        [from, 'x/2.md'],
      ]),
    })
    assert.deepEqual(await shown({ typeKeys: ['person'] }), {
      nodes: ['x/1.md', 'x/y/3.md', 'x1.md'],
      edges: ['x/1.md', 'x/y/3.md', 'x1.md'].flatMap((from) => [
        [from, 'x/1.md'],
        [from, 'x1.md'],
      ]),
    })
    assert.deepEqual(await shown({ typeKeys: ['person'], folder: 'x' }), {
      nodes: ['x/1.md', 'x/y/3.md'],
      edges: [
        ['x/1.md', 'x/1.md'],
        ['x/y/3.md', 'x/1.md'],
      ],
    })
    assert.deepEqual(await shown({ folder: 'nowhere' }), { nodes: [], edges: [] })
    assert.deepEqual(await shown({ typeKeys: ['nothing'] }), { nodes: [], edges: [] })
  })

  test('has with a filter the notes whose type earlier versions kept in another Unicode form', async () => {
    const db = await open()
    const [short, long] = ['Café', 'Café'.normalize('NFD')]
    const { projectId } = await writeNoteRows(db, [
      { path: 'a.md', type: short, links: ['b.md'] },
      { path: 'b.md', type: long, links: ['a.md'] },
      { path: 'c.md' },
    ])
    for (const note_type of [short, long]) {
      const graph = await collect(graphText(db, graphQueryOf(projectId, { note_type })))
      assert.deepEqual([graph.nodes.length, graph.edges.length], [2, 2])
    }
  })

  test('has a piece for each range of notes, after which others have a turn, also where nothing is found', async () => {
    const db = await open()
    const { projectId } = await writeNoteRows(
      db,
      PATHS.map((path) => ({ path, links: ['a.md'] })),
    )
    const ranges = PATHS.length / TINY.notesPerRange
    const graph = { projectId, ...WHOLE, typeKeys: ['nothing'] }
    // Of the nodes, and then of the edges.
    for (const query of [graph, { ...graph, limit: 5 }]) {
      assert.ok((await countPieces(graphText(db, query, TINY))) >= 2 * ranges)
    }
    for (const limit of [null, 5]) {
      assert.ok((await countPieces(orphansText(db, { projectId, limit, cursor: null }, TINY.notesPerRange))) >= ranges)
    }
  })

  test('in pages is the whole graph, each edge with its source', async () => {
    const db = await open()
    const rows = PATHS.map((path, n) => ({ path, type: n % 3 === 0 ? 'odd' : 'note', links: ['a.md', 'a/b.md'] }))
    const { projectId } = await writeNoteRows(db, rows)
    for (const typeKeys of [null, ['note'], ['odd']]) {
      const whole = await collect(graphText(db, { projectId, ...WHOLE, typeKeys }))
      for (const limit of [1, 2, 3, 9, 10, 11]) {
        const all = { nodes: [] as unknown[], edges: [] as unknown[] }
        let after: string | null = null
        do {
          const page = await collect(graphText(db, { projectId, ...WHOLE, typeKeys, limit, after }, TINY))
          assert.ok(page.nodes.length <= limit)
          all.nodes.push(...page.nodes)
          all.edges.push(...page.edges)
          after = page.next_cursor === null ? null : decodePathCursor(page.next_cursor).path
        } while (after !== null)
        assert.deepEqual(all, whole)
      }
    }
  })

  test('has long types of relations only to a length that fits into memory', async () => {
    const db = await open()
    const { projectId } = await writeNoteRows(db, [
      { path: 'a.md', links: [{ to: 'a.md', type: '😀'.repeat(1_000_000) }] },
    ])
    const { edges } = await collect(graphText(db, { projectId, ...WHOLE }))
    assert.equal(edges[0].relation_type, '😀'.repeat(2_000))
  })

  test('lists as orphans what has no relation at all and is no target', async () => {
    const db = await open()
    const { projectId } = await writeNoteRows(db, [
      { path: 'alone.md' },
      { path: 'd/alone too.md' },
      { path: 'hopes.md', links: ['nowhere'] },
      { path: 'itself.md', links: ['itself.md'] },
      { path: 'source.md', links: ['target.md'] },
      { path: 'target.md' },
      { path: 'z/last.md' },
    ])
    const paths = (entities: { file_path: string }[]) => entities.map(({ file_path }) => file_path)
    const alone = ['alone.md', 'd/alone too.md', 'z/last.md']
    for (const size of [1, 2, 1_000]) {
      const { entities, ...rest } = await collect(orphansText(db, { projectId, limit: null, cursor: null }, size))
      assert.deepEqual(paths(entities), alone)
      assert.deepEqual(rest, { total: 3 })
      assert.deepEqual(Object.keys(entities[0]), ['external_id', 'title', 'note_type', 'file_path'])
      for (const limit of [1, 2, 3, 4]) {
        const found: string[] = []
        let cursor: string | null = null
        do {
          const page = { projectId, limit, cursor: cursor === null ? null : decodePathCursor(cursor) }
          const answer = await collect(orphansText(db, page, size))
          assert.equal(answer.total, 3)
          found.push(...paths(answer.entities))
          cursor = answer.next_cursor
        } while (cursor !== null)
        assert.deepEqual(found, alone)
      }
    }
  })
})
