import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyWord, isSpoken } from './any-word.ts'
import { parseQuestion } from './question.ts'

test('a question as people speak it has three words, some of which only hold the others together', () => {
  const spoken = ['What did Caroline research?', 'how to brew coffee', 'the best of tea', 'what was new in 2023 :)']
  for (const text of spoken) {
    assert.equal(isSpoken(parseQuestion(text)), true, text)
  }
  const others = ['coffee brewing guide', 'the coffee', 'coffee', '', 'what OR when did', '"what did she say"']
  for (const text of [...others, 'what did (she say)']) {
    assert.equal(isSpoken(parseQuestion(text)), false, text)
  }
})

test('what signs join is one word of a question, whatever it is made of', () => {
  for (const text of ['state-of-the-art', 'I.B.M.', 'https://example.com/is/it', 'Apple I.B.M. Microsoft']) {
    assert.equal(isSpoken(parseQuestion(text)), false, text)
  }
  for (const text of ["don't fly away", 'is it state-of-the-art'])
    assert.equal(isSpoken(parseQuestion(text)), true, text)
})

test('any word of a question is any that says something', () => {
  const asked = anyWord(parseQuestion('What did Caroline research?'))
  assert.deepEqual(asked?.words, ['caroline', 'research'])
  assert.equal(asked?.tree?.kind, 'or')
  assert.deepEqual(anyWord(parseQuestion('who are you'))?.words, ['who', 'are', 'you'])
  for (const text of ['coffee', '', 'a OR b', '"a b"']) assert.equal(anyWord(parseQuestion(text)), null, text)
})

test('any word of a question is one of as many as are looked for', () => {
  const words = Array.from({ length: 63 }, (_, n) => `word${n}`)
  const phrase = Array.from({ length: 32 }, (_, n) => `piece${n}`)
  assert.equal(anyWord(parseQuestion(`${words.join(' ')} ${phrase.join('-')}`))?.words.length, 64)
})
