import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAppError } from '../../../platform/errors/app-error.ts'
import type { Metadata } from './metadata.ts'
import { editYaml } from './yaml-edit.ts'
import { parseYaml } from './yaml-read.ts'

const YAML = `# about this note
title: "Coffee"   # the name
type:   note
tags: [a, b]

# how far it is
status: 'draft'
text: |
  two
  lines

list:
- 1   # one
- 2
count: 0x10
# the end
`

test('changes one value and keeps every other byte, also the comment behind it', () => {
  assert.equal(editYaml(YAML, { title: 'Tea: green' }), YAML.replace('"Coffee"', "'Tea: green'"))
  assert.equal(editYaml(YAML, { status: 'done' }), YAML.replace("'draft'", 'done'))
  assert.equal(editYaml(YAML, { tags: ['c'] }), YAML.replace('tags: [a, b]', 'tags:\n- c'))
  assert.equal(editYaml(YAML, { text: 'one' }), YAML.replace('text: |\n  two\n  lines\n', 'text: one\n'))
  assert.equal(editYaml(YAML, { list: 7 }), YAML.replace('list:\n- 1   # one\n- 2\n', 'list: 7\n'))
})

test('a value that stays keeps its bytes', () => {
  assert.equal(editYaml(YAML, { title: 'Coffee', tags: ['a', 'b'], count: 16, list: [1, 2], unknown: null }), YAML)
})

test('deletes a key with its lines and nothing else', () => {
  assert.equal(editYaml(YAML, { status: null }), YAML.replace("status: 'draft'\n", ''))
  assert.equal(editYaml(YAML, { text: null }), YAML.replace('text: |\n  two\n  lines\n', ''))
  assert.equal(editYaml(YAML, { list: null }), YAML.replace('list:\n- 1   # one\n- 2\n', ''))
  assert.deepEqual(parseYaml(editYaml('a: 1\n', { a: null })), {})
})

test('adds keys at the end, and those that every note has at their place', () => {
  assert.equal(editYaml(YAML, { extra: true }), `${YAML}extra: true\n`)
  assert.equal(editYaml(YAML, { permalink: 'p' }), YAML.replace('type:   note\n', 'type:   note\npermalink: p\n'))
  assert.equal(editYaml('a: 1\n', { permalink: 'p', title: 'T' }), 'title: T\npermalink: p\na: 1\n')
  assert.equal(editYaml('', { title: 'T' }), 'title: T\n')
  assert.equal(editYaml('', { b: 1 }), 'b: 1\n')
  assert.equal(editYaml('type: note\npermalink: p\n', { title: 'T' }), 'title: T\ntype: note\npermalink: p\n')
  assert.equal(editYaml('# only a comment\n', { b: 1 }), '# only a comment\nb: 1\n')
})

test('adds a key where another one is replaced or goes, and keeps what stands around', () => {
  const yaml = 'tags: [a]\n# about b\nb: "1"  # one\n'
  assert.equal(editYaml(yaml, { tags: ['c'], title: 'T' }), 'title: T\ntags:\n- c\n# about b\nb: "1"  # one\n')
  assert.equal(editYaml(yaml, { tags: null, title: 'T' }), 'title: T\n# about b\nb: "1"  # one\n')
  const typed = `title: T\ntype: note\n${yaml}`
  const expected = 'title: T\ntype: note\npermalink: p\n# about b\nb: "1"  # one\n'
  assert.equal(editYaml(typed, { permalink: 'p', tags: null }), expected)
})

test('empties a key without taking it away, whether it was there or not', () => {
  assert.equal(editYaml('a: [1]\nb: 2 # two\n', { b: 5 }, ['a', 'z']), 'a: null\nb: 5 # two\nz: null\n')
})

test('fills a key that has no value yet', () => {
  assert.equal(editYaml('? a\nb: 1\n', { a: 'x' }), 'a: x\nb: 1\n')
  assert.equal(editYaml('a:\n# about b\nb: 1\n', { a: 'x' }), 'a: x\n# about b\nb: 1\n')
})

test('keeps CRLF line ends', () => {
  assert.equal(editYaml('a: 1\r\nb: 2\r\n', { a: ['x', 'y'], c: 3 }), 'a:\r\n- x\r\n- y\r\nb: 2\r\nc: 3\r\n')
})

test('writes flow style and anchors anew where it must', () => {
  assert.deepEqual(parseYaml(editYaml('{a: 1, b: 2}\n', { b: 3 })), { a: 1, b: 3 })
  assert.deepEqual(parseYaml(editYaml('a: &x [1]\nb: *x\n', { a: 2 })), { a: 2, b: [1] })
  assert.deepEqual(parseYaml(editYaml('? a\n: 1\nb: 2\n', { a: null })), { b: 2 })
})

test('refuses YAML that cannot be read', () => {
  assert.throws(
    () => editYaml('a: [\n', { b: 1 }),
    (error) => isAppError(error, 'invalid_argument'),
  )
})

test('a change goes beyond the bounds only where the text was beyond them before', () => {
  const keys = (count: number) => Array.from({ length: count }, (_, at) => `k${at}: 1\n`).join('')
  assert.equal(editYaml(keys(6000), { k1: 2, more: 'x' }), `${keys(6000).replace('k1: 1', 'k1: 2')}more: x\n`)
  assert.throws(() => editYaml(keys(4600), { list: Array(2000).fill(1) }), /marks between them are more than/)
  assert.throws(() => editYaml(keys(6000), { text: 'x'.repeat(20_000) }), /longer than/)
  const aliases = `a: &x "${'y'.repeat(30_000)}"\n${keys(50).replaceAll('1', '*x')}`
  assert.equal(editYaml(aliases, { more: 'x' }), `${aliases}more: x\n`)
})

const line = fc.constantFrom(
  ...['a: 1\n', 'b: x # y\n', 'c:\n- 1\n- 2\n', 'd: |\n  t\n\n', '# c\n', '\n', 'e: {x: 1}\n', 'f:\n', 'g: "q\n  r"\n'],
  ...[
    'title: T\n',
    'type: t\n',
    '? h\n: 1\n',
    'i: &z 1\n',
    'j: *z\n',
    'k: >-\n  a\n  b\n',
    'l:\n  m: 1\n  # n\n',
    'o: !t x\n',
  ],
)
const key = fc.constantFrom(...'abcdefghijklo', 'title', 'type', 'permalink', 'new: key')
const value = fc.oneof(fc.constant(null), fc.string(), fc.integer(), fc.array(fc.string(), { maxLength: 2 }))

test('means what was asked for, whatever stands in the frontmatter', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(line, { maxLength: 9 }),
      fc.boolean(),
      fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true }),
      (lines, isCrlf, changes) => {
        const yaml = isCrlf ? lines.join('').replaceAll('\n', '\r\n') : lines.join('')
        let before: Metadata
        try {
          before = parseYaml(yaml)
        } catch {
          return
        }
        const wanted = { ...before }
        for (const [name, change] of Object.entries(changes)) {
          if (change === null) delete wanted[name]
          else wanted[name] = change
        }
        assert.deepEqual(parseYaml(editYaml(yaml, changes)), wanted)
      },
    ),
    { numRuns: 1500 },
  )
})
