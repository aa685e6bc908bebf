import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../../platform/storage/database.ts'
import { inTurn } from './in-turn.ts'

test('work of one key waits for the work before it, whatever became of that; work of another does not', async () => {
  const db = {} as Database
  const story: string[] = []
  const first = Promise.withResolvers<string>()
  const one = inTurn(db, 'a', async () => {
    story.push('one begins')
    return first.promise
  })
  const two = inTurn(db, 'a', async () => {
    story.push('two')
    return 'two'
  })
  await inTurn(db, 'b', async () => story.push('other'))
  assert.deepEqual(story, ['one begins', 'other'])
  first.reject(new Error('broken'))
  await assert.rejects(one, /broken/)
  assert.equal(await two, 'two')
  assert.deepEqual(story, ['one begins', 'other', 'two'])
})
