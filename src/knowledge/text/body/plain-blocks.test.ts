import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { atOnce } from '../steps.ts'
import { blocksByRules } from './markdown-blocks.ts'
import { readingPlainBlocks } from './plain-blocks.ts'

const plainBlocks = (text: string) => atOnce(readingPlainBlocks(text))

test('a note of headings, lists, paragraphs and code is read without the rules of markdown', () => {
  const text =
    '# Title\n\n## Facts\n- [fact] water #tag (context)\n- uses [[X]]\n\n1. one\n2. two\n\n## Text\nSome\nlines.\n' +
    '```ts\n# no heading\n    - no item\n   ```` \n- item\n~~~ `\n```\n\n~~\n~~~\nmore\n```\nnever ended'
  assert.ok(plainBlocks(text))
  assert.deepEqual(plainBlocks(text), blocksByRules(text))
})

test('text that means something else to markdown is left to its rules', () => {
  for (const text of [
    ...[
      '    code',
      ' ```\ncode\n```',
      '``` code ```',
      '- a\n  ~~~\n  code\n  ~~~',
      '> quote',
      '<div>',
      '<!-- c -->',
      '- a\n  - nested',
      '- a\n\n  more',
    ],
    ...[
      'Title\n===',
      'Title\n---',
      '***',
      '_ _ _',
      '- ',
      '-',
      '1.',
      '#',
      '# ',
      '# closed #',
      '-  two blanks',
      '- # heading',
    ],
    ...['text\n2. no item', '- 1. nested', '- > quote', '- ```', '#\ttab', '1.\ttab', '\ttab'],
  ]) {
    assert.equal(plainBlocks(text), null, JSON.stringify(text))
  }
})

test('what is read without the rules of markdown is what they say', () => {
  const mark = fc.constantFrom(
    ...[
      '# ',
      '## ',
      '####### ',
      '#',
      '- ',
      '* ',
      '+ ',
      '-',
      '--',
      '**',
      '*',
      '_',
      '=',
      '==',
      '1. ',
      '2) ',
      '12',
      '1234567890. ',
    ],
    ...[
      '`',
      '``',
      '```',
      '~~',
      '~~~',
      '````',
      '>',
      '<',
      '<!--',
      '|',
      '[[',
      '[ ] ',
      '(',
      '\u00a0',
      '\v',
      ' ',
      '  ',
      '\t',
      '#tag',
      '\\',
      '',
    ],
  )
  const words = fc.constantFrom(
    '',
    'a',
    'some words',
    ' ',
    '  ',
    'end ',
    'end#',
    'end #',
    '-',
    '- x',
    '2. x',
    'ä',
    '[[x]]',
    '\t',
  )
  const line = fc.tuple(mark, mark, words).map((parts) => parts.join(''))
  const plainLine = fc.oneof(
    fc.constantFrom(
      '',
      '',
      'words',
      '- item',
      '* item',
      '1. item',
      '2. item',
      '# heading',
      '**bold** words',
      '#tag words',
      ' ',
      '```',
      '```',
      '~~~~',
      '   ~~~~~ ',
    ),
    line,
  )
  let plain = 0
  fc.assert(
    fc.property(fc.array(plainLine, { maxLength: 8 }), fc.constantFrom('', '\n', '\n\n', '  '), (lines, end) => {
      const text = lines.join('\n') + end
      const blocks = plainBlocks(text)
      if (blocks === null) return
      plain++
      assert.deepEqual(blocks, blocksByRules(text), JSON.stringify(text))
    }),
    { numRuns: 5_000 },
  )
  assert.ok(plain > 500)
})
