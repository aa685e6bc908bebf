import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { turnsDuring } from '../../../../test/support/turns-during.ts'
import { atOnce, inTurns } from '../steps.ts'
import { blocksByRules, readingBlocks } from './markdown-blocks.ts'

function kinds(body: string): string[] {
  return atOnce(readingBlocks(body)).map(({ kind, text }) => `${kind}: ${text}`)
}

test('tells headings, first paragraphs of items and other paragraphs apart', () => {
  assert.deepEqual(kinds('# H\n\ntext\nmore\n\n- item\n  goes on\n\n  second\n  - inner\n1. one\n'), [
    'heading: H',
    'paragraph: text\nmore',
    'item: item\ngoes on',
    'paragraph: second',
    'item: inner',
    'item: one',
  ])
})

test('knows the level of headings of both kinds and what stands at the top', () => {
  const blocks = atOnce(readingBlocks('### three\n\none\n===\n\ntwo\n---\n\n- # in a list\n\n> # in a quote\n'))
  assert.deepEqual(
    blocks.map(({ level, isTop, isQuoted }) => [level, isTop, isQuoted]),
    [
      [3, true, false],
      [1, true, false],
      [2, true, false],
      [1, false, false],
      [1, false, true],
    ],
  )
})

test('leaves out code and HTML, and reads on behind a comment', () => {
  assert.deepEqual(kinds('    code\n\n```\nfence\n```\n\n<div>\nhtml\n</div>\n\n<!-- c --> text\n\nend'), [
    'paragraph: text',
    'paragraph: end',
  ])
})

test('a definition of a link is text', () => {
  assert.deepEqual(kinds('[a]: [[b]]'), ['paragraph: [a]: [[b]]'])
})

test('loses nothing behind or inside of what is nested too deep', () => {
  const found = kinds(`${'- '.repeat(80)}deep\n\n${'> '.repeat(80)}quoted\n\nend\n`)
  assert.ok(found[0]?.endsWith('deep'))
  assert.ok(found[1]?.endsWith('quoted'))
  assert.equal(found.at(-1), 'paragraph: end')
})

test('a list that is read in parts has the same texts as one that is read whole', () => {
  const lines = [
    ...'- a|- b|* c|+ [d] e|  - f|    - g|   - h|\t- i| - j|1. k|2. l|  3) m|-|- - n|* * *|- é|- 𝐲|- 5. z|1. 1|10) **a**'.split(
      '|',
    ),
    ...'|- *b*|- ***|* ***|+ +|- 2. c| |text|  text|    text|      text|---|===|# o|  # p|> q|> - r|  > s|- > t|- # u'.split(
      '|',
    ),
    ...'```|  ```|- ```|~~~|<div>|  <div>|</div>|<!--|-->|- <!-- v|[w]: x'.split('|'),
  ]
  const text = fc.array(fc.constantFrom(...lines), { maxLength: 30 }).map((all) => all.join('\n'))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 4 }), (source, listLines) => {
      assert.deepEqual(blocksByRules(source, listLines), blocksByRules(source, Number.POSITIVE_INFINITY))
    }),
    { numRuns: 5_000 },
  )
})

test('others have their turn while the blocks of a long list with nested ones are found', async () => {
  const reading = inTurns(readingBlocks('- a\n  - b\n'.repeat(10_000)))
  assert.ok((await turnsDuring(reading)) >= 10)
  assert.equal((await reading).length, 20_000)
})
