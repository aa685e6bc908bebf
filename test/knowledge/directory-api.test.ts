import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { startServer } from '../support/start-server.ts'
import { client } from '../support/test-client.ts'

test('folders come and go with their notes, and a note can be read as it is stored', async () => {
  await using server = await startServer()
  const api = client(server)
  const base = `/v2/${(await api.get('/v2/projects/', 200)).body.projects[0].external_id}`
  const create = async (title: string, directory: string, content = '') =>
    (await api.post(`${base}/knowledge/entities`, 201, { body: { title, directory, content } })).body
  const note = await create('Plan', 'docs/deep', '<script>alert(1)</script> ü\r\n')
  await create('Readme', '')
  const log = await create('Log', 'docs')

  const { body: tree } = await api.get(`${base}/directory/tree`, 200)
  assert.equal(tree.name, 'Root')
  assert.deepEqual(Object.keys(tree), ['name', 'directory_path', 'type', 'children'])
  const { body: structure } = await api.get(`${base}/directory/structure`, 200)
  assert.deepEqual(structure, {
    name: 'Root',
    directory_path: '/',
    type: 'directory',
    children: [
      {
        name: 'docs',
        directory_path: '/docs',
        type: 'directory',
        children: [{ name: 'deep', directory_path: '/docs/deep', type: 'directory', children: [] }],
      },
    ],
  })
  const list = async (query: string, status = 200) => (await api.get(`${base}/directory/list?${query}`, status)).body
  const names = (body: { nodes: { name: string }[] }) => body.nodes.map(({ name }) => name)
  const root = await list('')
  assert.deepEqual(names(root), ['docs', 'Readme.md'])
  assert.deepEqual([root.page, root.page_size, root.total, root.has_more], [1, 10, 2, false])
  assert.deepEqual(root.nodes[0], { name: 'docs', directory_path: '/docs', type: 'directory' })
  assert.equal(root.nodes[1].directory_path, '/Readme.md')
  for (const dir of ['docs', '/docs', 'docs/', './docs', '/docs//']) {
    assert.deepEqual(names(await list(`dir_name=${encodeURIComponent(dir)}`)), ['deep', 'Log.md'], dir)
  }
  assert.deepEqual(names(await list('depth=3&file_name_glob=*l*')), ['docs', 'deep', 'Plan.md'])
  assert.deepEqual(await list('dir_name=/&depth=1&file_name_glob=&sort='), root, 'no value is no filter')
  const page = await list('depth=10&page=2&page_size=2')
  assert.deepEqual(names(page), ['Log.md', 'Plan.md'])
  assert.deepEqual([page.total, page.has_more], [5, true])
  assert.deepEqual((await list('dir_name=nowhere')).nodes, [])
  assert.deepEqual((await list('dir_name=../etc')).nodes, [])
  for (const wrong of ['depth=0', 'depth=11', 'page=0', 'page_size=0', 'page_size=201', 'sort=size', 'depth=x']) {
    assert.equal(typeof (await list(wrong, 422)).detail, 'string')
  }

  const raw = await api.get(`${base}/resource/${note.external_id.toUpperCase()}`, 200)
  assert.equal(raw.text, note.content)
  assert.equal(raw.headers.get('content-type'), 'text/markdown; charset=utf-8')
  assert.equal(raw.headers.get('x-content-type-options'), 'nosniff')
  assert.match(raw.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/)
  const etag = `"${hash('sha256', note.content)}"`
  assert.equal(raw.headers.get('etag'), etag)
  await api.get(`${base}/resource/${note.external_id}`, 304, { headers: { 'if-none-match': etag } })
  await api.get(`${base}/resource/01a1de13-85d1-7067-8ef8-905e447295bf`, 404)
  await api.get(`${base}/resource/docs`, 404)

  for (const { external_id } of [note, log]) await api.delete(`${base}/knowledge/entities/${external_id}`, 200)
  assert.deepEqual(names(await list('')), ['Readme.md'])
  await api.get(`${base}/resource/${note.external_id}`, 404)
})

test('folders and texts are only for those who may read', async () => {
  await using server = await startServer({ mode: 'serve' })
  const api = client(server)
  const base = `/v2/${(await api.get('/v2/projects/', 200)).body.projects[0].external_id}`
  for (const path of [
    'directory/tree',
    'directory/structure',
    'directory/list',
    'resource/x',
    'memory/recent',
    'memory/x',
  ]) {
    await api.as('none').get(`${base}/${path}`, 401)
    await api.get(`/v2/01a1de13-85d1-7067-8ef8-905e447295bf/${path}`, 404)
  }
})
