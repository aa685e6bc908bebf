import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { newId } from '../../src/platform/ids/uuid.ts'
import { startServer, type TestServer } from '../support/start-server.ts'
import { client, type TestClient } from '../support/test-client.ts'

const NOBODY = '018f0000-0000-7000-8000-000000000000'

let server: TestServer
let api: TestClient
let base: string

before(async () => {
  server = await startServer()
  api = client(server)
  base = await newProject('history')
})
after(() => server.stop())

async function newProject(name: string): Promise<string> {
  const { body } = await api.post('/v2/projects/', 201, { body: { name } })
  return `/v2/${body.new_project.external_id}/knowledge`
}

interface Made {
  external_id: string
  id: number
  content: string
  checksum: string
  version: number
  file_path: string
  permalink: string
  observations: unknown[]
  relations: { to_id: string | null }[]
}

async function create(title: string, content: string, at = base): Promise<Made> {
  const { body } = await api.post<Made>(`${at}/entities`, 201, { body: { title, directory: 'docs', content } })
  return body
}

async function append(note: Made, content: string): Promise<Made> {
  const { body } = await api.patch<Made>(`${base}/entities/${note.external_id}`, 200, {
    body: { operation: 'append', content },
  })
  return body
}

const urlOf = (note: Made) => `${base}/entities/${note.external_id}`

test('every version of a note can be listed, read and compared', async () => {
  const first = await create('Versions', 'one\n')
  const second = await append(first, 'two\n')
  const third = await append(second, 'three\n')
  const { body: page } = await api.get(`${urlOf(first)}/revisions?limit=2`, 200)
  assert.deepEqual(
    page.revisions.map((r: { version: number; change: string; is_current: boolean }) => [
      r.version,
      r.change,
      r.is_current,
    ]),
    [
      [3, 'updated', true],
      [2, 'updated', false],
    ],
  )
  const { body: rest } = await api.get(`${urlOf(first)}/revisions?limit=2&cursor=${page.next_cursor}`, 200)
  assert.deepEqual(
    rest.revisions.map((r: { version: number; change: string }) => [r.version, r.change]),
    [[1, 'created']],
  )
  assert.equal(rest.next_cursor, null)
  for (const [index, made] of [first, second, third].entries()) {
    const { body } = await api.get(`${urlOf(first)}/revisions/${index + 1}`, 200)
    assert.equal(body.content, made.content)
    assert.equal(body.checksum, made.checksum)
    assert.equal(body.note_id, undefined)
  }
  const { body: diff } = await api.get(`${urlOf(first)}/revisions/diff?from=1&to=3`, 200)
  assert.deepEqual([diff.from, diff.to, diff.lines_removed], [1, 3, 0])
  assert.match(diff.diff, /^--- docs\/Versions\.md\tversion 1\n\+\+\+ docs\/Versions\.md\tversion 3\n@@ /)
  assert.match(diff.diff, /\n\+three\n$/)
  const { body: last } = await api.get(`${urlOf(first)}/revisions/diff`, 200)
  assert.deepEqual([last.from, last.to], [2, 3])
  assert.deepEqual((await api.get(`${urlOf(first)}/diff?from=1&to=3`, 200)).body, diff, 'beside restore, too')
})

test('versions and notes that are not there are not found, and bad questions are refused', async () => {
  const note = await create('Missing', 'x')
  for (const version of ['2', '0', '-1', 'latest', '1e3', '9'.repeat(40)]) {
    const { body } = await api.get(`${urlOf(note)}/revisions/${version}`, 404)
    assert.match(body.detail, /not found/)
  }
  await api.get(`${base}/entities/${NOBODY}/revisions`, 404)
  await api.get(`${urlOf(note)}/revisions/diff?from=7`, 404)
  await api.get(`${urlOf(note)}/revisions/diff?from=x`, 422)
  await api.get(`${urlOf(note)}/revisions?limit=0`, 422)
  await api.get(`${urlOf(note)}/revisions?cursor=nonsense`, 400)
  await api.post(`${urlOf(note)}/restore`, 422, { body: {} })
  await api.post(`${urlOf(note)}/restore`, 404, { body: { version: 5 } })
})

test('restoring a version is a change like any other', async () => {
  const first = await create('Restored', '- [fact] the old one\n')
  const second = await append(first, '- [fact] the new one\n')
  const stale = { 'if-match': `"${first.checksum}"` }
  await api.post(`${urlOf(first)}/restore`, 412, { body: { version: 1 }, headers: stale })
  const current = { 'if-match': `"${second.checksum}"` }
  const { body, headers } = await api.post<Made>(`${urlOf(first)}/restore`, 200, {
    body: { version: 1 },
    headers: current,
  })
  assert.equal(body.content, first.content)
  assert.equal(body.version, 3)
  assert.equal(body.observations.length, 1)
  assert.equal(headers.get('etag'), `"${first.checksum}"`)
  const { body: again } = await api.post<Made>(`${urlOf(first)}/revisions/restore`, 200, { body: { version: 3 } })
  assert.equal(again.version, 3, 'the text it has already is no change')
  const { body: page } = await api.get(`${urlOf(first)}/revisions`, 200)
  assert.deepEqual(
    page.revisions.map((r: { change: string }) => r.change),
    ['restored', 'updated', 'created'],
  )
})

test('a deleted note comes back from the trash with its id, its versions and its links', async () => {
  const target = await create('Target', 'first\n')
  const linking = await create('Linking', '- see [[Target]]\n')
  await append(target, 'second\n')
  await api.delete(urlOf(target), 200)
  const unbound = await api.get<Made>(urlOf(linking), 200)
  assert.equal(unbound.body.relations[0]?.to_id, null)
  const { body: trash } = await api.get(`${base}/trash`, 200)
  const [entry] = trash.entities
  assert.deepEqual([entry.external_id, entry.title, entry.version], [target.external_id, 'Target', 2])
  assert.equal(entry.content, undefined)
  const { body } = await api.post<Made>(`${base}/trash/${target.external_id}/restore`, 200)
  assert.deepEqual([body.external_id, body.id, body.permalink], [target.external_id, target.id, target.permalink])
  assert.match(body.content, /first\n.*second\n$/s)
  assert.equal((await api.get<Made>(urlOf(linking), 200)).body.relations[0]?.to_id, target.permalink)
  const { body: page } = await api.get(`${urlOf(target)}/revisions`, 200)
  assert.deepEqual(
    page.revisions.map((r: { version: number; change: string }) => [r.version, r.change]),
    [
      [4, 'restored'],
      [2, 'updated'],
      [1, 'created'],
    ],
  )
  const { body: diff } = await api.get(`${urlOf(target)}/revisions/diff`, 200)
  assert.deepEqual([diff.from, diff.to, diff.diff], [2, 4, ''])
  assert.match((await api.get(`${urlOf(target)}/revisions/3`, 404)).body.detail, /current one is 4/)
  assert.equal((await api.get(`${urlOf(target)}/revisions/1`, 200)).body.content, target.content)
  await api.post(`${base}/trash/${target.external_id}/restore`, 404)
})

test('a note whose place or id is in use stays in the trash, or goes elsewhere', async () => {
  const old = await create('Taken', 'old\n')
  await api.delete(urlOf(old), 200)
  const taker = await create('Taken', 'new\n')
  const restore = `${base}/trash/${old.external_id}/restore`
  assert.match((await api.post(restore, 409)).body.detail, /already exists/)
  await api.post(restore, 400, { body: { destination_path: '../outside.md' } })
  const { body } = await api.post<Made>(restore, 200, { body: { destination_path: 'elsewhere/Taken again.md' } })
  assert.equal(body.file_path, 'elsewhere/Taken again.md')
  assert.notEqual(body.permalink, taker.permalink)
  await api.delete(urlOf(old), 200)
  await api.put(urlOf(old), 201, { body: { title: 'Same id', directory: '', content: '' } })
  assert.match((await api.post(restore, 409)).body.detail, /already exists/)
})

test('of several notes that had one id, each can be restored and deleted by its number', async () => {
  const own = await newProject('one id')
  const id = newId()
  for (const title of ['one', 'two', 'three']) {
    await api.put(`${own}/entities/${id}`, 201, { body: { title } })
    await api.delete(`${own}/entities/${id}`, 200)
  }
  const { body: trash } = await api.get(`${own}/trash`, 200)
  const numbers = Object.fromEntries(
    trash.entities.map(({ title, entity_id }: { title: string; entity_id: number }) => [title, entity_id]),
  )
  const restore = (entity_id: number, status: number) =>
    api.post<Made & { title: string }>(`${own}/trash/${id}/restore`, status, { body: { entity_id } })
  await restore(Math.max(...(Object.values(numbers) as number[])) + 1, 404)
  assert.equal((await restore(numbers.one, 200)).body.title, 'one')
  await restore(numbers.two, 409)
  assert.deepEqual((await api.delete(`${own}/trash/${id}?entity_id=${numbers.three}`, 200)).body, { deleted: true })
  assert.deepEqual((await api.delete(`${own}/trash/${id}?entity_id=${numbers.three}`, 200)).body, { deleted: false })
  const titles = (await api.get(`${own}/trash`, 200)).body.entities.map(({ title }: { title: string }) => title)
  assert.deepEqual(titles, ['two'])
  await api.get(`${own}/entities/${id}`, 200)
})

test('what is deleted from the trash is gone for ever', async () => {
  const note = await create('Forever', 'secret\n')
  await append(note, 'more\n')
  await api.delete(urlOf(note), 200)
  assert.deepEqual((await api.delete(`${base}/trash/${note.external_id}`, 200)).body, { deleted: true })
  assert.deepEqual((await api.delete(`${base}/trash/${note.external_id}`, 200)).body, { deleted: false })
  assert.deepEqual((await api.delete(`${base}/trash/nonsense`, 200)).body, { deleted: false })
  await api.post(`${base}/trash/${note.external_id}/restore`, 404)
  await api.get(`${urlOf(note)}/revisions`, 404)
})

test('the trash is paged and belongs to its project', async () => {
  const own = await newProject('paged trash')
  const made: Made[] = []
  for (const title of ['A', 'B', 'C']) made.push(await create(title, '', own))
  for (const note of made) await api.delete(`${own}/entities/${note.external_id}`, 200)
  const { body: first } = await api.get(`${own}/trash?limit=2`, 200)
  const { body: second } = await api.get(`${own}/trash?limit=2&cursor=${first.next_cursor}`, 200)
  const titles = [...first.entities, ...second.entities].map(({ title }: { title: string }) => title)
  assert.deepEqual(titles, ['C', 'B', 'A'])
  assert.equal(second.next_cursor, null)
  assert.deepEqual((await api.delete(`${base}/trash/${made[0]?.external_id}`, 200)).body, { deleted: false })
  await api.post(`${base}/trash/${made[0]?.external_id}/restore`, 404)
  await api.post(`${own}/trash/${made[0]?.external_id}/restore`, 200)
  await api.get(`${own}/trash?cursor=nonsense`, 400)
})

test('the feed tells each change, and wakes who waits for one', async () => {
  const own = await newProject('feed')
  const note = await create('Watched', 'x', own)
  const { body: first } = await api.get(`${own}/changes`, 200)
  assert.deepEqual(
    first.changes.map((c: Record<string, unknown>) => [c.external_id, c.change, c.version, c.file_path]),
    [[note.external_id, 'created', 1, 'docs/Watched.md']],
  )
  assert.equal(first.has_more, false)
  const waiting = api.get(`${own}/changes?since=${first.cursor}&wait=30`, 200)
  await api.delete(`${own}/entities/${note.external_id}`, 200)
  const { body: second } = await waiting
  assert.deepEqual(
    second.changes.map((c: Record<string, unknown>) => [c.external_id, c.change, c.version]),
    [[note.external_id, 'deleted', 2]],
  )
  const { body: third } = await api.get(`${own}/changes?since=${second.cursor}`, 200)
  assert.deepEqual(third.changes, [])
  await api.post(`${own}/trash/${note.external_id}/restore`, 200)
  const { body: fourth } = await api.get(`${own}/changes?since=${third.cursor}`, 200)
  assert.deepEqual(
    fourth.changes.map((c: Record<string, unknown>) => [c.external_id, c.change, c.version]),
    [[note.external_id, 'restored', 3]],
    'a version that no change before it had',
  )
  await api.get(`${own}/changes?since=nonsense`, 400)
  await api.get(`${own}/changes?wait=31`, 422)
  await api.get(`/v2/${NOBODY}/knowledge/changes`, 404)
})

test('who waits is answered when the server stops', async () => {
  const other = await startServer()
  const { body: projects } = await client(other).get('/v2/projects/', 200)
  const request = get(new URL(`/v2/${projects.projects[0].external_id}/knowledge/changes?wait=30`, other.url), {
    headers: { authorization: `Bearer ${other.adminToken}`, expect: '100-continue' },
  })
  const answer = once(request, 'response') as Promise<[IncomingMessage]>
  // The server has the request.
  await once(request, 'continue')
  await other.stop()
  const [response] = await answer
  assert.equal(response.statusCode, 200)
  assert.deepEqual(JSON.parse(await text(response)).changes, [])
})
