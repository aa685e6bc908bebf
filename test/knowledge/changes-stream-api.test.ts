import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventReader, type ListenOptions } from '../support/event-stream.ts'
import { eachServer } from './each-server.ts'
import { NOBODY, type NotesApi } from './notes-api.ts'

interface Change {
  external_id: string
  change: string
  version: number
  file_path: string
  changed_at: string
  changed_by: string | null
}

function listen(notes: NotesApi, query = '', options: ListenOptions = {}): Promise<EventReader> {
  const headers = { authorization: `Bearer ${notes.server.adminToken}`, ...options.headers }
  return EventReader.open(new URL(`${notes.base}/changes${query}`, notes.server.url), { ...options, headers })
}

async function take(reader: EventReader, count: number): Promise<Change[]> {
  const taken: Change[] = []
  while (taken.length < count) {
    const event = await reader.event<Change>()
    assert.ok(event !== null, 'the stream ended')
    assert.equal(event.type, 'change')
    taken.push(event.data)
  }
  return taken
}

eachServer('the stream of changes', (notes) => {
  test('tells what the feed tells, then every change as it happens', async () => {
    const own = await notes().project('live')
    for (const title of ['A', 'B', 'C']) await own.create({ title })
    await using reader = await listen(own)
    const { response } = reader
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(response.headers.get('x-accel-buffering'), 'no')
    assert.equal(response.headers.get('content-encoding'), null)
    assert.match(response.headers.get('vary') ?? '', /\bAccept\b/)
    const { body } = await own.api.get(`${own.base}/changes`, 200)
    assert.deepEqual(await take(reader, 3), body.changes)
    const note = await own.create({ title: 'D' })
    const [created] = await take(reader, 1)
    assert.deepEqual([created?.external_id, created?.change, created?.version], [note.external_id, 'created', 1])
    await own.delete(note.external_id)
    const [deleted] = await take(reader, 1)
    assert.deepEqual([deleted?.external_id, deleted?.change], [note.external_id, 'deleted'])
    const { body: all } = await own.api.get(`${own.base}/changes`, 200)
    assert.deepEqual(deleted, all.changes.at(-1))
  })

  test('goes on behind the id of any event, and misses and repeats nothing', async () => {
    const own = await notes().project('again and again')
    const paths: string[] = []
    const heard: string[] = []
    let last: string | undefined
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 3; n++) paths.push((await own.create({ title: `${round} ${n}` })).file_path)
      await using reader = await listen(own, '', { ...(last !== undefined && { lastEventId: last }) })
      // Leaves in the middle of what there is, each time at another place.
      for (const change of await take(reader, paths.length - heard.length - (round % 3))) heard.push(change.file_path)
      last = reader.lastEventId
    }
    const { body } = await own.api.get(`${own.base}/changes?since=${last}`, 200)
    for (const change of body.changes) heard.push(change.file_path)
    assert.deepEqual(heard, paths)
  })

  test('the header wins over since, and the cursor of an answer is as good as the id of an event', async () => {
    const own = await notes().project('cursors')
    await own.create({ title: 'A' })
    const { body } = await own.api.get(`${own.base}/changes`, 200)
    const b = await own.create({ title: 'B' })
    const since = await listen(own, `?since=${body.cursor}`)
    assert.equal((await take(since, 1))[0]?.file_path, b.file_path)
    await since.close()
    const c = await own.create({ title: 'C' })
    await using both = await listen(own, '?since=nonsense', { lastEventId: since.lastEventId })
    assert.equal((await take(both, 1))[0]?.file_path, c.file_path)
  })

  test('since=now begins with what changes next, here and in the list, and leaves an id to go on behind', async () => {
    const own = await notes().project('from now on')
    await own.create({ title: 'Old' })
    const { body } = await own.api.get(`${own.base}/changes?since=now`, 200)
    assert.deepEqual([body.changes, body.has_more], [[], false])
    const first = await listen(own, '?since=now')
    while (first.lastEventId === '') await first.block()
    await first.close()
    const missed = await own.create({ title: 'While nobody listened' })
    await using again = await listen(own, '?since=now', { lastEventId: first.lastEventId })
    assert.equal((await take(again, 1))[0]?.file_path, missed.file_path)
    const { body: list } = await own.api.get(`${own.base}/changes?since=${body.cursor}`, 200)
    assert.deepEqual(
      list.changes.map(({ file_path }: Change) => file_path),
      [missed.file_path],
    )
  })

  test('what cannot be told is refused before it begins, as JSON', async () => {
    const refused = async (status: number, path: string, options: ListenOptions = {}) => {
      const headers = { authorization: `Bearer ${notes().server.adminToken}`, ...options.headers }
      const reader = await EventReader.open(new URL(path, notes().server.url), { ...options, headers })
      assert.equal(reader.response.status, status)
      assert.match(reader.response.headers.get('content-type') ?? '', /^application\/json/)
      await reader.close()
    }
    const future = Buffer.from(`1:${2 ** 40}:${Date.now() * 1000}`).toString('base64url')
    const { base } = notes()
    await refused(400, `${base}/changes?since=nonsense`)
    await refused(400, `${base}/changes`, { lastEventId: 'x'.repeat(5_000) })
    await refused(410, `${base}/changes`, { lastEventId: future })
    await refused(404, `/v2/${NOBODY}/knowledge/changes`)
    await refused(404, `/v2/${NOBODY}/knowledge/changes?since=now`)
    await refused(422, `${base}/changes?limit=0`)
    await refused(403, `${base}/changes`, { headers: { authorization: 'Bearer nobody-has-this-token' } })
  })

  test('who does not ask for events gets the list', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html', 'text/event-stream;q=0.5, application/json']) {
      const { body } = await notes().api.get(`${notes().base}/changes`, 200, { headers: { accept } })
      assert.equal(body.has_more, false)
    }
  })

  test('a HEAD request has the headers and no end to wait for', async () => {
    const response = await fetch(new URL(`${notes().base}/changes`, notes().server.url), {
      method: 'HEAD',
      headers: { authorization: `Bearer ${notes().server.adminToken}`, accept: 'text/event-stream' },
    })
    assert.equal(response.status, 200)
    assert.equal(await response.text(), '')
  })

  test('ends when the project is deleted', async () => {
    const own = await notes().project('short-lived')
    await own.create({ title: 'A' })
    await using reader = await listen(own)
    await take(reader, 1)
    await own.api.delete(`/v2/projects/${own.projectId}`, 200)
    await reader.end()
  })

  test('a change of another project is not told', async () => {
    const own = await notes().project('quiet')
    const other = await notes().project('noisy')
    await using reader = await listen(own)
    await other.create({ title: 'Noise' })
    const note = await own.create({ title: 'Signal' })
    assert.equal((await take(reader, 1))[0]?.external_id, note.external_id)
  })

  // The last one: it stops the server.
  test('ends when the server stops, and the server waits for nobody', async () => {
    await using reader = await listen(notes(), '?since=now')
    await reader.block()
    await notes().server.stop()
    await reader.end()
    assert.doesNotMatch(notes().server.output(), /did not finish/)
  })
})
