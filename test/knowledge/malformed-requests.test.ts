import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NotesApi } from './notes-api.ts'

interface Malformed {
  detail: string
  errors: { loc: (string | number)[]; msg: string; type: string }[]
}

test('every answer with 422 says where the request is malformed, also what no schema can see', async () => {
  await using notes = await NotesApi.start()
  const { api, base, projectId } = notes
  const refused: [loc: (string | number)[], answer: Promise<{ body: Malformed }>][] = []
  const get = (path: string, ...loc: string[]) => refused.push([loc, api.get(`/v2/${projectId}/${path}`, 422)])
  const post = (path: string, body: object, ...loc: (string | number)[]) =>
    refused.push([loc, api.post(`/v2/${projectId}/${path}`, 422, { body })])

  for (const path of ['memory/recent', 'memory/a/b']) {
    for (const text of ['tomorrow', 'never', '366d', '2999-01-01', 'x'.repeat(150)]) {
      get(`${path}?timeframe=${text}`, 'query', 'timeframe')
    }
    get(`${path}?depth=6`, 'query', 'depth')
  }
  for (const uri of ['a%3Fb', 'a//b', 'http://x', '%20']) get(`memory/${uri}`, 'path', 'uri')
  post('prompt/search', { query: 'x', timeframe: 'never' }, 'body', 'timeframe')
  post('prompt/continue-conversation', { timeframe: 'tomorrow' }, 'body', 'timeframe')
  post('search/', { text: 'a', title: 'b' }, 'body')
  post('search/', { text: 'a', after_date: 'never' }, 'body', 'after_date')
  post('knowledge/entities', { title: '...' }, 'body', 'title')
  refused.push([['path', 'entity_id'], api.put(`${base}/entities/nobody`, 422, { body: { title: 'x' } })])
  const batch = (operation: object) => ({ atomic: true, operations: [{ op: 'create', title: 'First' }, operation] })
  post('knowledge/batch', batch({ op: 'create', title: '...' }), 'body', 'operations', 1, 'title')
  post('knowledge/batch', batch({ op: 'put', entity_id: 'nobody', title: 'x' }), 'body', 'operations', 1, 'entity_id')

  for (const [loc, answer] of refused) {
    const { detail, errors } = (await answer).body
    assert.deepEqual(
      errors.map((error) => error.loc),
      [loc],
    )
    assert.ok(detail.includes(errors[0]?.msg ?? '?'), detail)
    assert.ok(errors[0]?.type)
  }
})

test('a batch that goes on has the words of each failure alone, in the first answer and in a repeat', async () => {
  await using notes = await NotesApi.start()
  const body = { operations: [{ op: 'create', title: '...' }] }
  const ask = () => notes.api.post(`${notes.base}/batch`, 200, { body, headers: { 'idempotency-key': 'words' } })
  const { body: first } = await ask()
  assert.deepEqual(Object.keys(first.results[0].error), ['detail'])
  assert.deepEqual((await ask()).body, first)
})
