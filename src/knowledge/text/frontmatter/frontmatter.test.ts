import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cleanText } from '../clean-text.ts'
import { composeText, parseYaml, replaceYaml, splitText, writeHead } from './frontmatter.ts'

const COFFEE = `---
title: Coffee Brewing
type: note
permalink: main/coffee/coffee-brewing
tags:
- brewing
---

# Coffee Brewing
`

test('splits the text into what is between the fences and the body', () => {
  const { yaml, head, body } = splitText(COFFEE)
  assert.equal(yaml, 'title: Coffee Brewing\ntype: note\npermalink: main/coffee/coffee-brewing\ntags:\n- brewing\n')
  assert.equal(body, '# Coffee Brewing\n')
  assert.equal(head, COFFEE.slice(0, -body.length))
})

test('writes the layout it reads', () => {
  const metadata = parseYaml(splitText(COFFEE).yaml ?? '')
  assert.equal(composeText(metadata, '# Coffee Brewing\n'), COFFEE)
})

test('writes title, type and permalink first and the others in their order', () => {
  assert.equal(
    writeHead({ zeta: 1, permalink: 'p', alpha: true, type: 'note', title: 'T' }),
    '---\ntitle: T\ntype: note\npermalink: p\nzeta: 1\nalpha: true\n---\n',
  )
})

test('ends with the fence when the body is empty', () => {
  assert.equal(composeText({ title: 'T' }, ''), '---\ntitle: T\n---\n')
  assert.deepEqual(splitText('---\ntitle: T\n---\n'), {
    yaml: 'title: T\n',
    head: '---\ntitle: T\n---\n',
    body: '',
  })
})

test('takes only one empty line from the body', () => {
  assert.equal(splitText('---\na: 1\n---\n\n\ntext').body, '\ntext')
  assert.equal(splitText('---\na: 1\n---\ntext').body, 'text')
  assert.equal(splitText('---\na: 1\n---\n \ntext').body, ' \ntext')
  assert.equal(splitText('---\na: 1\n---').body, '')
  assert.equal(splitText('---\na: 1\n---\n\rtext').body, '\rtext')
})

test('finds the opening fence behind blank lines, with blanks after it', () => {
  assert.equal(splitText('\n \t\n---  \na: 1\n---\t\n\nb').yaml, 'a: 1\n')
})

test('takes a fence that is not closed, not first or not alone for body', () => {
  for (const text of [
    '---\ntitle: T\n',
    'text\n---\na: 1\n---\n',
    ' ---\na: 1\n---\n',
    '----\na: 1\n----\n',
    '--- a\na: 1\n---\n',
    '---\na: 1\n--- x\n ---\n',
    '---\\ntitle: T\\n---\\n',
    '--- title: T ---',
    'abc\na: 1\n---\n\ntext',
    '***\na: 1\n---\n\ntext',
    '---\ra: 1\n---\n',
    '---',
    '',
  ]) {
    assert.deepEqual(splitText(text), { yaml: null, head: '', body: text }, JSON.stringify(text))
  }
})

test('reads CRLF frontmatter and leaves the line ends of the body', () => {
  const parts = splitText('---\r\ntitle: T\r\n---\r\n\r\nline\r\nline\r\n')
  assert.deepEqual(parseYaml(parts.yaml ?? ''), { title: 'T' })
  assert.equal(parts.body, 'line\r\nline\r\n')
})

test('an empty block is frontmatter without keys', () => {
  assert.equal(splitText('---\n---\nbody').yaml, '')
  assert.deepEqual(parseYaml(''), {})
  assert.deepEqual(parseYaml('# nothing but a comment\n'), {})
})

test('drops byte order marks and NUL characters and mends halves of pairs', () => {
  assert.equal(cleanText('\uFEFFa\0b\uD800c'), 'ab\uFFFDc')
  assert.equal(cleanText('\0\uFEFF---'), '---')
  assert.equal(cleanText('a\uFEFFb 😀'), 'a\uFEFFb 😀')
})

test('replaces the YAML of a head and nothing else of it', () => {
  const parts = splitText('\n---  \r\na: 1\r\n---\r\n\r\nbody')
  assert.equal(replaceYaml(parts, 'b: 2\r\n'), '\n---  \r\nb: 2\r\n---\r\n\r\n')
  assert.equal(replaceYaml(splitText('body'), 'b: 2\n'), '---\nb: 2\n---\n\n')
})

const pieces = fc.array(
  fc.constantFrom('---', '---\n', '\n', '\r\n', ' ', '\t', 'a: 1\n', '- x\n', 'text', '\\n', '"', ':', '#', '\r'),
  { maxLength: 12 },
)
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  pieces.map((parts) => parts.join('')),
)

test('head and body are the text, whatever it is', () => {
  fc.assert(
    fc.property(anyText, (raw) => {
      const text = cleanText(raw)
      assert.equal(cleanText(text), text)
      const { yaml, head, body } = splitText(text)
      assert.equal(head + body, text)
      assert.ok(yaml === null ? head === '' : head.includes(yaml))
    }),
    { numRuns: 2000 },
  )
})

test('a body comes back from a composed text byte for byte', () => {
  fc.assert(
    fc.property(fc.string(), anyText, (title, body) => {
      assert.equal(splitText(composeText({ title }, body)).body, body)
    }),
    { numRuns: 1000 },
  )
})

test('a large text of fences is split in one pass', () => {
  const text = `---\n${'--- x\n'.repeat(1_000_000)}`
  assert.equal(splitText(text).body, text)
  assert.equal(splitText(`---\n${`---${' '.repeat(50)}x\n`.repeat(100_000)}`).yaml, null)
  assert.equal(splitText('\n'.repeat(10_000_000)).yaml, null)
})
