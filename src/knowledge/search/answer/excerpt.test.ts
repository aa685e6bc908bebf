import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseQuestion } from '../question/question.ts'
import { WantedWords } from '../words/wanted-words.ts'
import { excerptOf } from './excerpt.ts'

const wanted = new WantedWords(parseQuestion('walrus tusk'))
const filler = 'lorem ipsum dolor sit amet. '.repeat(400)

test('a short text stays as it is', () => {
  assert.equal(excerptOf('a walrus', wanted, 100), 'a walrus')
})

test('of a long text its beginning and the surroundings of the words stay, in their order and each once', () => {
  const excerpt = excerptOf(`Beginning. ${filler}a walrus with a tusk${filler}another walrus${filler}`, wanted, 4_000)
  assert.ok(excerpt.length <= 4_010 && excerpt.startsWith('Beginning.'))
  assert.deepEqual(excerpt.match(/walrus|tusk/g), ['walrus', 'tusk', 'walrus'])
})

test('an excerpt has an end whatever the text, and cuts no character in two', () => {
  const pictures = '😀'.repeat(5_000)
  for (const text of ['walrus '.repeat(10_000), `${pictures}walrus${pictures}`, `x${pictures}x walrus x${pictures}`]) {
    const excerpt = excerptOf(text, wanted, 2_000)
    assert.ok(excerpt.length <= 2_010 && excerpt.isWellFormed() && !excerpt.includes('\ufffd'))
  }
})
