import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FolderQuery, listFolder } from '../../src/knowledge/directory/list-folder.ts'
import { walkFolder } from '../../src/knowledge/directory/walk-folder.ts'
import { structureText, treeText } from '../../src/knowledge/directory/write-tree.ts'
import { fileNameGlob } from '../../src/knowledge/text/name/glob.ts'
import { eachDatabase } from '../support/each-database.ts'
import { writeNoteRows } from './note-rows.ts'
import { planOf, refuseShortCuts, SCAN, SORT, watchedReader } from './watched-reader.ts'

const ROOT = { folder: '', depth: 1, glob: null, sort: null, page: 1, pageSize: 200 }
const PATHS = [
  'B.md',
  'a.md',
  'a/b-c/x.md',
  'a/b.md',
  'a/b/c/d.md',
  'a/b/c0.md',
  'a/b0.md',
  'a0.md',
  'é/1.md',
  '😀/1.md',
]

interface Node {
  name: string
  directory_path: string
  type: string
  children?: Node[]
}

async function parse(chunks: AsyncIterable<unknown>): Promise<Node> {
  let text = ''
  for await (const chunk of chunks) text += chunk
  return JSON.parse(text)
}

/** Folders with a slash at their end. */
function outline({ name, type, children }: Node): unknown {
  return type === 'file' ? name : { [`${name}/`]: (children ?? []).map(outline) }
}

eachDatabase('folders', ({ open }) => {
  test('are found at any depth, each once, however the reads are cut', async () => {
    const db = await open()
    // Enough files beside and below folders that reads grow, shrink and end everywhere.
    const paths = [...PATHS]
    for (let n = 0; n < 150; n++) paths.push(`many/${n}/x.md`, `many/0/deep/${n}.md`, `flat/${n}.md`, `root ${n}.md`)
    const { projectId } = await writeNoteRows(
      db,
      paths.map((path) => ({ path })),
    )
    for (const folder of ['', 'a', 'a/b', 'many', 'many/0', 'flat', 'nowhere', 'a.md']) {
      for (const depth of [1, 2, 3, 10]) {
        const found: string[] = []
        for await (const entries of walkFolder(db, { projectId, folder, depth, withDetails: false })) {
          found.push(...entries.map(({ file_path, isFolder }) => (isFolder ? `${file_path}/` : file_path)))
        }
        assert.deepEqual(found.toSorted(), expected(paths, folder, depth).toSorted(), `${folder}, ${depth}`)
      }
    }
  })

  test('with many notes below them are jumped over', async () => {
    const db = await open()
    const rows = Array.from({ length: 3_000 }, (_, n) => ({ path: `${n % 3}/${n}.md` }))
    const { projectId } = await writeNoteRows(db, [...rows, { path: 'z.md' }])
    const { reader, statements } = watchedReader(db)
    const { nodes, total } = await listFolder(reader, { projectId, ...ROOT })
    assert.deepEqual(
      nodes.map(({ name }) => name),
      ['0', '1', '2', 'z.md'],
    )
    assert.equal(total, 4)
    // Two for each folder at most, and one for the details of the file.
    assert.ok(statements.length <= 7, `${statements.length} statements`)
    await db.write(async (tx) => {
      await refuseShortCuts(tx)
      for (const seen of statements) {
        const plan = await planOf(tx, seen)
        assert.doesNotMatch(plan, SCAN, plan)
        if (seen.sql.includes('order by')) assert.doesNotMatch(plan, SORT, plan)
      }
    })
  })

  test('are written as a tree, and without files as a structure', async () => {
    const db = await open()
    const { projectId, ids, externalIds } = await writeNoteRows(
      db,
      PATHS.map((path) => ({ path, updatedAt: Date.UTC(2026, 0, 2) * 1_000 })),
    )
    for (const size of [1, 2, 3, 1_000]) {
      const tree = await parse(treeText(db, projectId, size))
      assert.deepEqual(outline(tree), {
        'Root/': [
          'B.md',
          'a.md',
          { 'a/': [{ 'b-c/': ['x.md'] }, 'b.md', { 'b/': [{ 'c/': ['d.md'] }, 'c0.md'] }, 'b0.md'] },
          'a0.md',
          { 'é/': ['1.md'] },
          { '😀/': ['1.md'] },
        ],
      })
      const folder = tree.children?.[2]
      assert.deepEqual(folder?.children?.[1], {
        name: 'b.md',
        directory_path: '/a/b.md',
        type: 'file',
        file_path: 'a/b.md',
        title: 'b',
        permalink: 'a/b',
        external_id: externalIds.get('a/b.md'),
        entity_id: ids.get('a/b.md'),
        note_type: 'note',
        content_type: 'text/markdown',
        updated_at: '2026-01-02T00:00:00.000Z',
      })
      assert.equal(folder?.children?.[2]?.directory_path, '/a/b')
      assert.deepEqual(outline(await parse(structureText(db, projectId, size))), {
        'Root/': [{ 'a/': [{ 'b-c/': [] }, { 'b/': [{ 'c/': [] }] }] }, { 'é/': [] }, { '😀/': [] }],
      })
    }
    const { projectId: empty } = await writeNoteRows(db, [])
    const root = { name: 'Root', directory_path: '/', type: 'directory', children: [] }
    assert.deepEqual(await parse(treeText(db, empty)), root)
    assert.deepEqual(await parse(structureText(db, empty)), root)
  })

  test('are listed folders first, sorted and paged, also when a page takes several walks', async () => {
    const db = await open()
    const { projectId } = await writeNoteRows(db, [
      { path: 'b.md', title: 'zebra', updatedAt: 3_000_000 },
      { path: 'A.md', title: 'Yak', updatedAt: 1_000_000 },
      { path: 'c.txt.md', title: 'xerus', updatedAt: 2_000_000 },
      { path: 'Dir/x.md' },
      { path: 'dab/y.md' },
    ])
    const list = async (query: Partial<FolderQuery>, mostItems?: number) => {
      const { nodes, total } = await listFolder(db, { projectId, ...ROOT, ...query }, mostItems)
      return [...nodes.map(({ name }) => name), total]
    }
    assert.deepEqual(await list({}), ['dab', 'Dir', 'A.md', 'b.md', 'c.txt.md', 5])
    assert.deepEqual(await list({ sort: 'title_asc' }), ['dab', 'Dir', 'c.txt.md', 'A.md', 'b.md', 5])
    assert.deepEqual(await list({ sort: 'title_desc' }), ['dab', 'Dir', 'b.md', 'A.md', 'c.txt.md', 5])
    assert.deepEqual(await list({ sort: 'updated_asc' }), ['dab', 'Dir', 'A.md', 'c.txt.md', 'b.md', 5])
    assert.deepEqual(await list({ sort: 'updated_desc' }), ['dab', 'Dir', 'b.md', 'c.txt.md', 'A.md', 5])
    assert.deepEqual(await list({ glob: fileNameGlob('*.txt.*') }), ['dab', 'Dir', 'c.txt.md', 3])
    assert.deepEqual(await list({ depth: 2, glob: fileNameGlob('[xy].md') }), ['dab', 'Dir', 'x.md', 'y.md', 4])
    for (const mostItems of [1, 2, 3, 50_000]) {
      assert.deepEqual(await list({ page: 1, pageSize: 1 }, mostItems), ['dab', 5])
      assert.deepEqual(await list({ page: 4, pageSize: 1 }, mostItems), ['b.md', 5])
      assert.deepEqual(await list({ page: 5, pageSize: 1, sort: 'title_desc' }, mostItems), ['c.txt.md', 5])
      assert.deepEqual(await list({ page: 6, pageSize: 1 }, mostItems), [5])
      assert.deepEqual(await list({ page: 1_000_000, pageSize: 1 }, mostItems), [5])
    }
    assert.deepEqual(await list({ page: 2, pageSize: 3 }), ['b.md', 'c.txt.md', 5])
    assert.deepEqual(await list({ folder: 'nowhere' }), [0])
  })
})

function expected(paths: readonly string[], folder: string, depth: number): string[] {
  const root = folder === '' ? '' : `${folder}/`
  const found = new Set<string>()
  for (const path of paths.filter((one) => one.startsWith(root))) {
    const segments = path.slice(root.length).split('/')
    for (let level = 1; level < segments.length && level <= depth; level++) {
      found.add(`${root}${segments.slice(0, level).join('/')}/`)
    }
    if (segments.length <= depth) found.add(path)
  }
  return [...found]
}
