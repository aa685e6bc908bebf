import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { NotesApi } from './notes-api.ts'

let notes: NotesApi
before(async () => {
  notes = await NotesApi.start()
})
after(() => notes.server.stop())

describe('Idempotency-Key', () => {
  test('gives the first answer again instead of making a second note', async () => {
    const headers = { 'idempotency-key': 'one-note' }
    const wish = { title: 'Once', content: 'x' }
    const first = await notes.post(wish, 201, { headers })
    const again = await notes.post(wish, 201, { headers })
    assert.deepEqual(again.body, first.body)
    assert.equal(again.headers.get('location'), first.headers.get('location'))
    assert.equal(again.headers.get('etag'), first.headers.get('etag'))
    assert.equal((await notes.paths()).filter((path) => path === 'Once.md').length, 1)
    const { body } = await notes.post({ title: 'Twice' }, 422, { headers })
    assert.match(body.detail, /Idempotency-Key/)
    assert.ok(!(await notes.paths()).includes('Twice.md'))
  })

  test('gives metadata again as it was, whatever its keys are called', async () => {
    const headers = { 'idempotency-key': 'named-like-secrets' }
    const own = { token: 't1', api_key: 'a1', key: 'kk', nested: { password: 'pp', list: [{ secret: 's' }] } }
    const wish = { title: 'Named like secrets', entity_metadata: own, content: '- [password] is a category' }
    const first = await notes.post(wish, 201, { headers })
    const again = await notes.post(wish, 201, { headers })
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal(again.text, first.text)
    const { token, api_key, key, nested } = again.body.entity_metadata
    assert.deepEqual({ token, api_key, key, nested }, own)
  })

  test('gives the note again when its answer is too large to be kept or names too many people', async () => {
    const people = Array.from({ length: 2_000 }, (_, n) => `user${n}@example.org`).join('\n')
    for (const [key, content] of [
      ['large', '- [c] item #t\n'.repeat(30_000)],
      ['people', people],
    ] as const) {
      const headers = { 'idempotency-key': key }
      const wish = { title: `Answer of ${key}`, content }
      const first = await notes.post(wish, 201, { headers })
      const again = await notes.post(wish, 201, { headers })
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      assert.ok(again.text === first.text, 'the same document')
      for (const name of ['location', 'etag']) assert.equal(again.headers.get(name), first.headers.get(name))

      const { body: later } = await notes.patch(first.body.external_id, { operation: 'append', content: 'x' }, 200)
      const now = await notes.post(wish, 201, { headers })
      assert.equal(now.body.checksum, later.checksum)
      assert.equal(now.headers.get('etag'), `"${later.checksum}"`)

      await notes.delete(first.body.external_id)
      const { body } = await notes.post(wish, 409, { headers })
      assert.match(body.detail, /too large to keep/)
    }
  })

  test('is one under both prefixes, which are one API', async () => {
    const headers = { 'idempotency-key': 'both-prefixes' }
    const body = { title: 'Under both prefixes' }
    const first = await notes.post(body, 201, { headers })
    const alias = `/v2/projects/${notes.projectId}/knowledge/entities`
    const again = await notes.api.post(alias, 201, { body, headers })
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal(again.text, first.text)
    await notes.api.post(alias, 422, { body: { title: 'Another' }, headers })
  })

  test('is one however the id of the project is written', async () => {
    const headers = { 'idempotency-key': 'ids-in-any-spelling' }
    const body = { title: 'Ids in any spelling' }
    const first = await notes.post(body, 201, { headers })
    const id = notes.projectId
    for (const spelled of [id.toUpperCase(), id.replaceAll('-', ''), id.replaceAll('-', '').toUpperCase()]) {
      const again = await notes.api.post(`/v2/${spelled}/knowledge/entities`, 201, { body, headers })
      assert.equal(again.headers.get('idempotent-replayed'), 'true', spelled)
      assert.equal(again.text, first.text)
    }
  })

  test('is one for each project', async () => {
    const headers = { 'idempotency-key': 'in-two-projects' }
    const wish = { title: 'In both' }
    const first = await notes.post(wish, 201, { headers })
    const other = await notes.project('Second')
    const second = await other.post(wish, 201, { headers })
    assert.notEqual(second.body.external_id, first.body.external_id)
    assert.deepEqual(await other.get(second.body.external_id), second.body)
  })

  test('does not remember what failed before anything was done', async () => {
    const headers = { 'idempotency-key': 'bad-then-good' }
    await notes.post({}, 422, { headers })
    await notes.post({ title: 'Good at last' }, 201, { headers })
  })
})
