import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BuiltinModel } from '../../semantic/builtin/builtin-model.ts'
import { createTokenMeaning } from '../rank/token-meaning.ts'
import { loadWordMeanings } from './word-meanings.ts'

test('meanings of words are loaded once, by who asks first, and others have their turn meanwhile', async () => {
  let turns = 0
  const count = () => {
    turns++
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  const [one, other] = await Promise.all([loadWordMeanings(), loadWordMeanings()])
  clearImmediate(counting)
  assert.equal(one, other)
  assert.ok(turns >= 2, `${turns} turns`)
  const words = ['coffee', 'the', 'grinder']
  assert.deepEqual(one.weightsOf(words), createTokenMeaning(BuiltinModel.table()).weightsOf(words))
})
