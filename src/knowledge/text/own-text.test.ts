import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { countWords } from '../search/index/row-words.ts'
import { WordList } from '../search/rank/word-list.ts'
import { stemOf } from '../search/words/stem.ts'
import { BuiltinModel } from '../semantic/builtin/builtin-model.ts'
import { Tokenizer } from '../semantic/builtin/tokenizer.ts'
import { ownText } from './own-text.ts'

test('a text of its own has the same characters', () => {
  for (const text of [
    '',
    'short',
    'longer than twelve',
    'länger als zwölf',
    '日本語の文章はここにあります',
    `half a pair \ud800 in it`,
  ])
    assert.equal(ownText(text), text)
})

const BOOKS = 60
const PAGE = 'lorem ipsum '.repeat(80_000)
const tokenizer = new Tokenizer(BuiltinModel.table().vocabulary)

const READERS: Record<string, (book: string) => void> = {
  'the words of a row': (body) => countWords({ title: '', tags: '', headings: '', body, place: '' }),
  stems: (book) => book.split(' ').slice(-2).forEach(stemOf),
  'the words of ranked texts': (book) => new WordList().read(book, 0, book.length, []),
  'the words of embedded texts': (book) => tokenizer.encode(book.slice(-1_000)),
}

for (const [name, read] of Object.entries(READERS)) {
  test(`${name} that are kept do not keep the texts`, () => {
    const before = heapBytes()
    for (let book = 0; book < BOOKS; book++) read(`${PAGE}thelongestwordof${name.length}books${book} `)
    assert.ok(heapBytes() - before < (BOOKS * PAGE.length) / 4)
  })
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
