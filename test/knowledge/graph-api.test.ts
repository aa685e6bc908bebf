import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'
import { NotesApi } from './notes-api.ts'

interface Node {
  external_id: string
  file_path: string
}

async function project(api: TestClient): Promise<string> {
  const { body } = await api.get('/v2/projects/', 200)
  return `/v2/${body.projects[0].external_id}`
}

test('the graph follows what is written: links bind, unbind and never show what does not exist', async () => {
  await using server = await startServer()
  const api = client(server)
  const base = await project(api)
  const create = async (title: string, directory: string, content: string, note_type = 'note') =>
    (await api.post(`${base}/knowledge/entities`, 201, { body: { title, directory, content, note_type } })).body
      .external_id
  const graph = async (query = '') => (await api.get(`${base}/knowledge/graph${query}`, 200)).body
  assert.deepEqual(await graph(), { nodes: [], edges: [] })

  const a = await create('A', 'x', '- needs [[B]]\n- needs [[x/B]]\n- [[Nobody]]\n')
  assert.deepEqual((await graph()).edges, [])
  const b = await create('B', 'x', 'See [[A]] and [[C]].', 'My Type')
  const c = await create('C', '', '')
  const lonely = await create('"Lonely" \\ 😀', 'y', 'no link')
  const whole = await graph()
  assert.deepEqual(whole.nodes, [
    { external_id: c, title: 'C', note_type: 'note', file_path: 'C.md' },
    { external_id: a, title: 'A', note_type: 'note', file_path: 'x/A.md' },
    { external_id: b, title: 'B', note_type: 'my_type', file_path: 'x/B.md' },
    { external_id: lonely, title: '"Lonely" \\ 😀', note_type: 'note', file_path: whole.nodes[3].file_path },
  ])
  const edges = [
    { from_id: a, to_id: b, relation_type: 'needs' },
    { from_id: b, to_id: a, relation_type: 'links_to' },
    { from_id: b, to_id: c, relation_type: 'links_to' },
  ]
  assert.deepEqual(whole.edges, edges)
  assert.deepEqual((await graph('?directory=x')).edges, edges.slice(0, 2))
  assert.deepEqual((await graph('?directory=%2Fx%2F')).edges, edges.slice(0, 2))
  assert.deepEqual(
    (await graph('?note_type=MyType')).nodes.map((node: Node) => node.external_id),
    [b],
  )
  assert.deepEqual((await graph('?note_type=MyType')).edges, [])
  const page = await graph('?limit=2')
  assert.equal(page.nodes.length, 2)
  const rest = await graph(`?cursor=${page.next_cursor}`)
  assert.deepEqual([...page.nodes, ...rest.nodes], whole.nodes)
  assert.deepEqual([...page.edges, ...rest.edges], edges)
  assert.equal(rest.next_cursor, null)

  const orphans = await api.get(`${base}/knowledge/orphans`, 200)
  assert.deepEqual(orphans.body, { entities: [whole.nodes[3]], total: 1 })
  await api.delete(`${base}/knowledge/entities/${c}`, 200)
  assert.deepEqual((await graph()).edges, edges.slice(0, 2))
  await create('C', 'z', '')
  assert.equal((await graph()).edges.length, 3)
})

test('the graph of a folder has the notes of that folder, whatever signs are in its name', async () => {
  await using notes = await NotesApi.start()
  await notes.create({ title: 'In C', directory: 'C' })
  const { external_id: id } = await notes.create({ title: 'In C sharp' })
  await notes.move(id, 'C#/In C sharp.md', 200)
  const pathsIn = async (folder: string) => {
    const { body } = await notes.api.get(`${notes.base}/graph?directory=${encodeURIComponent(folder)}`, 200)
    return body.nodes.map(({ file_path: path }: { file_path: string }) => path)
  }
  assert.deepEqual(await pathsIn('C#'), ['C#/In C sharp.md'])
  assert.deepEqual(await pathsIn('/C/'), ['C/In C.md'])
  assert.deepEqual(await pathsIn('C+'), [])
})

test('the graph is answered at both addresses, only to those who may read, and refuses what it does not understand', async () => {
  await using server = await startServer({ mode: 'serve' })
  const api = client(server)
  const base = await project(api)
  for (const path of ['knowledge/graph', 'knowledge/orphans']) {
    const { headers } = await api.get(`${base.replace('/v2/', '/v2/projects/')}/${path}`, 200)
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
    await api.as('none').get(`${base}/${path}`, 401)
    for (const query of ['limit=0', 'limit=10001', 'limit=x', 'limit=1&limit=2']) {
      await api.get(`${base}/${path}?${query}`, 422)
    }
    const { cursor } = (await api.get(`${base}/knowledge/changes`, 200)).body
    for (const wrong of ['nonsense', cursor]) await api.get(`${base}/${path}?cursor=${wrong}`, 400)
    for (const unknown of ['01a1de13-85d1-7067-8ef8-905e447295bf', 'main', '1']) {
      const { body } = await api.get(`/v2/${unknown}/${path}`, 404)
      assert.ok(body.detail.includes(unknown))
    }
  }
  const { body } = await api.get(`${base}/knowledge/graph?directory=..%2Fetc`, 400)
  assert.equal(typeof body.detail, 'string')
  await api.get(`${base}/knowledge/graph?note_type=`, 422)
  const cursor = Buffer.from('path:0:elsewhere/a.md').toString('base64url')
  await api.get(`${base}/knowledge/graph?directory=x&cursor=${cursor}`, 400)
})
