import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openCallers } from '../support/callers.ts'
import { bearerHeader } from '../support/credential-cases.ts'
import { client } from '../support/test-client.ts'
import { NOBODY, NotesApi } from './notes-api.ts'
import { search, titles, type WireAnswer } from './search-api.ts'

let notes: NotesApi
before(async () => {
  notes = await NotesApi.start()
  await notes.create({ title: 'Only one', content: 'penguin' })
})
after(() => notes.server.stop())

test('a search is asked by POST or QUERY, by both addresses, with or without a slash at the end', async () => {
  const body = { text: 'penguin' }
  for (const method of ['POST', 'QUERY']) {
    for (const prefix of ['/v2', '/v2/projects']) {
      for (const end of ['search/', 'search', 'search/?page=1&page_size=5']) {
        const path = `${prefix}/${notes.projectId}/${end}`
        const answer = await notes.api.call<WireAnswer>(method, path, 200, { body })
        assert.deepEqual(titles(answer.body), ['Only one'], `${method} ${path}`)
        assert.equal(answer.headers.get('accept-query'), 'application/json')
      }
    }
  }
  const { headers } = await notes.api.call('PUT', `/v2/${notes.projectId}/search/`, 405, { body })
  assert.equal(headers.get('allow'), 'POST, QUERY, OPTIONS')
})

test('a search that contradicts itself or leaves its lists is 422', async () => {
  const wrong: Record<string, unknown>[] = [
    { text: 'a', title: 'b' },
    { title: 'a', permalink: 'b' },
    { permalink: 'a', permalink_match: 'b*' },
    { text: 'a', title: 'b', permalink: 'c', permalink_match: 'd' },
    { text: 1 },
    { text: ['a'] },
    { text: 'x'.repeat(20_001) },
    { text: 'a', entity_types: ['note'] },
    { text: 'a', entity_types: 'entity' },
    { text: 'a', retrieval_mode: 'text' },
    { text: 'a', retrieval_mode: 'FTS' },
    { text: 'a', min_similarity: -0.1 },
    { text: 'a', min_similarity: 1.1 },
    { text: 'a', min_similarity: 'high' },
    { text: 'a', note_types: 'note' },
    { text: 'a', tags: [1] },
    { text: 'a', after_date: 'whenever' },
    { text: 'a', after_date: 7 },
    { text: 'a', after_date: '2025-02-30' },
    { text: 'a', after_date: '2025-13-01' },
    { text: 'a', after_date: '2025-02-28T24:61' },
    { text: 'a', metadata_filters: [] },
    { text: 'a', metadata_filters: 'status' },
  ]
  for (const body of wrong) {
    const { detail } = await search(notes, body, { status: 422 })
    assert.equal(typeof detail, 'string', JSON.stringify(body))
  }
  for (const query of ['?page=0', '?page=-1', '?page=x', '?page_size=0', '?page_size=101', '?page=1.5', '?page=9e9']) {
    assert.equal(typeof (await search(notes, 'a', { status: 422, query })).detail, 'string', query)
  }
  for (const body of ['[]', '"a"', 'null']) {
    await notes.api.post(`/v2/${notes.projectId}/search/`, 422, {
      body,
      headers: { 'content-type': 'application/json' },
    })
  }
})

test('a value outside of a list of values is answered with the list', async () => {
  const { detail } = await search(notes, { text: 'a', entity_types: ['entity', 'foo'] }, { status: 422 })
  assert.match(detail, /entity_types\[1\] must be one of "entity", "observation", "relation"/)
})

test('a search with a bad metadata filter is 400', async () => {
  const wrong = [
    { 'bad key': 1 },
    { 'a..b': 1 },
    { '': 1 },
    { "a'b": 1 },
    { a: [] },
    { a: {} },
    { a: { $like: 'x' } },
    { a: { $gt: 1, $lt: 3 } },
    { a: { $in: [] } },
    { a: { $between: [1] } },
    { a: { $between: 1 } },
    { a: { $gt: {} } },
  ]
  for (const filters of wrong) {
    const { detail } = await search(notes, { metadata_filters: filters }, { status: 400 })
    assert.equal(typeof detail, 'string', JSON.stringify(filters))
  }
})

test('a body that is no JSON is refused before anything is searched', async () => {
  const path = `/v2/${notes.projectId}/search/`
  const json = { 'content-type': 'application/json' }
  for (const method of ['POST', 'QUERY']) {
    await notes.api.call(method, path, 422, { body: '{"text": ', headers: json })
    await notes.api.call(method, path, 415, { body: 'penguin', headers: { 'content-type': 'text/plain' } })
    const { body } = await notes.api.call(method, path, 413, { body: `"${'x'.repeat(1_100_000)}"`, headers: json })
    assert.equal(typeof body.detail, 'string')
  }
})

test('a search in a project that is not there is 404 and names it', async () => {
  for (const id of [NOBODY, 'main', '1', '%00']) {
    for (const method of ['POST', 'QUERY']) {
      const { body } = await notes.api.call(method, `/v2/${id}/search/`, 404, { body: { text: 'penguin' } })
      assert.match(body.detail, /^Project not found: no project has the external_id '.*'$/)
    }
  }
})

test('whoever may not read notes may not search them, by whichever method', async () => {
  await using closed = await NotesApi.start({ mode: 'serve' })
  await using callers = await openCallers(closed.server)
  const path = `/v2/${closed.projectId}/search/`
  const nobody = client(closed.server, 'none')
  const headers = bearerHeader((await callers.make({ roles: [] })).token)
  const reader = bearerHeader((await callers.make({ roles: ['read_only'] })).token)
  for (const method of ['POST', 'QUERY']) {
    assert.deepEqual((await nobody.call(method, path, 401, { body: { text: 'a' } })).body, { detail: 'Unauthorized' })
    const { body } = await nobody.call(method, path, 403, { body: { text: 'a' }, headers })
    assert.deepEqual(body, { detail: 'Missing permission: notes_read' })
    await nobody.call(method, path, 200, { body: { text: 'a' }, headers: reader })
  }
  await nobody.call('POST', `${path}reindex`, 403, { headers: reader })
})

test('reindexing is answered at once, and everything is found during it and after it', async () => {
  const { body } = await notes.api.post(`/v2/${notes.projectId}/search/reindex`, 200)
  assert.deepEqual(body, {
    status: 'ok',
    message: '1 note is indexed anew in the background; searches go on meanwhile',
  })
  assert.deepEqual(titles(await search(notes, 'penguin')), ['Only one'])
  await notes.api.post(`/v2/projects/${notes.projectId}/search/reindex/`, 200)
  await notes.api.post(`/v2/${NOBODY}/search/reindex`, 404)
})
