import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../../test/support/turns-during.ts'
import { BuiltinModel } from '../../semantic/builtin/builtin-model.ts'
import { createTokenMeaning } from '../rank/token-meaning.ts'
import { loadWordMeanings } from './word-meanings.ts'

test('meanings of words are loaded once, by who asks first, and others have their turn meanwhile', async () => {
  const loading = Promise.all([loadWordMeanings(), loadWordMeanings()])
  const turns = await turnsDuring(loading)
  const [one, other] = await loading
  assert.equal(one, other)
  assert.ok(turns >= 2, `${turns} turns`)
  const words = ['coffee', 'the', 'grinder']
  assert.deepEqual(one.weightsOf(words), createTokenMeaning(BuiltinModel.table()).weightsOf(words))
})
