import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { isAppError } from '../../../platform/errors/app-error.ts'
import type { JsonValue, Metadata } from './metadata.ts'
import { parseYaml } from './yaml-read.ts'
import { writeYaml } from './yaml-write.ts'

test('quotes only where YAML needs it', () => {
  for (const plain of [
    'Coffee Brewing',
    'main/coffee/coffee-brewing',
    '2026-01-31',
    '2026-01-31T10:00:00Z',
    '1.2.3',
    'a:b',
    'C#',
    'über',
    '中文',
    '🔥 hot',
    "it's",
    'say "hi"',
    'a, b [c] {d}',
    '-draft',
    '(x)',
    '_x',
    '/x',
    '2024 plan',
    'nonsense',
  ]) {
    assert.equal(writeYaml({ title: plain }), `title: ${plain}\n`)
  }
})

test('quotes what would be read as something else', () => {
  for (const text of [
    'A: B',
    'a:',
    '- a',
    '-',
    '---',
    '# a',
    'a # b',
    '',
    ' a',
    'a ',
    '"a"',
    "'a'",
    '[a]',
    '{a}',
    '&a',
  ]) {
    assert.equal(writeYaml({ title: text }), `title: '${text.replaceAll("'", "''")}'\n`)
  }
  for (const text of [
    '1',
    '-1',
    '1.5',
    '1e5',
    '.5',
    '0x1F',
    '0o7',
    '.inf',
    '.NaN',
    'true',
    'Null',
    '~',
    'no',
    'On',
    '10:30',
  ]) {
    assert.equal(writeYaml({ title: text }), `title: '${text}'\n`)
  }
})

test('quotes a day or time that no calendar or clock has, at which other readers give up', () => {
  const impossible = ['2026-02-30', '2025-02-29', '2026-13-01', '2026-00-10', '0000-01-01', '2026-1-32 10:00:00']
  const times = ['2026-01-31T24:00:00', '2026-01-31 10:60:00Z', '2026-01-31t10:00:60.5', '2026-01-31T10:00:00+24:00']
  for (const text of [...impossible, ...times]) assert.equal(writeYaml({ due: text }), `due: '${text}'\n`)
  for (const text of ['2024-02-29', '2026-12-31 23:59:59.999 -05:30', '2026-02-30 or so', '2026-02-30-a', '2026-13']) {
    assert.equal(writeYaml({ due: text }), `due: ${text}\n`)
  }
})

test('writes a text with line breaks on one line', () => {
  assert.equal(writeYaml({ title: 'a\nb\t"c"\u2028d\u0085' }), 'title: "a\\nb\\t\\"c\\"\\u2028d\\u0085"\n')
})

test('writes lists and mappings in block style', () => {
  const metadata: Metadata = {
    tags: ['a', 'b: c'],
    empty: [],
    none: {},
    nothing: null,
    map: { x: 1, list: [1, [2, 3], { k: true, l: [null] }], inner: { y: 'z' } },
  }
  assert.equal(
    writeYaml(metadata),
    [
      'tags:',
      '- a',
      "- 'b: c'",
      'empty: []',
      'none: {}',
      'nothing: null',
      'map:',
      '  x: 1',
      '  list:',
      '  - 1',
      '  - - 2',
      '    - 3',
      '  - k: true',
      '    l:',
      '    - null',
      '  inner:',
      '    y: z',
      '',
    ].join('\n'),
  )
  assert.deepEqual(parseYaml(writeYaml(metadata)), metadata)
})

test('refuses what could not be read again', () => {
  const refused = (metadata: unknown) =>
    assert.throws(
      () => writeYaml(metadata as Metadata),
      (error) => isAppError(error, 'invalid_argument'),
    )
  refused(JSON.parse('{"__proto__": 1}'))
  refused(JSON.parse('{"a": {"__proto__": 1}}'))
  refused({ ['k'.repeat(600)]: 1 })
  refused({ a: 'x'.repeat(70_000) })
  refused({ a: Number.NaN })
  refused(JSON.parse(`{"a": ${'['.repeat(50)}1${']'.repeat(50)}}`))
})

test('drops what cannot be stored', () => {
  assert.equal(writeYaml({ title: 'a\0b\uD800' }), 'title: ab\uFFFD\n')
})

const hard = fc.array(
  fc.constantFrom(
    ...[
      'true',
      'no',
      'null',
      '~',
      '1',
      '0x1f',
      '.5',
      '1e3',
      '2026-01-31',
      '10:30',
      ': ',
      ':',
      ' #',
      '#',
      '- ',
      '-',
      '---',
    ],
    ...[
      ' ',
      '\n',
      '\r',
      '\t',
      '"',
      "'",
      '\\',
      '\u2028',
      '\u2029',
      '\u0085',
      '\u00A0',
      '\uFEFF',
      '😀',
      'é',
      '中',
      '[',
      ']',
    ],
    ...[
      '{',
      '}',
      ',',
      '&a',
      '*a',
      '!x',
      '|',
      '>',
      '%',
      '@',
      '`',
      '?',
      '? ',
      '=',
      '<<',
      '...',
      '_',
      'a',
      '\u007f',
      '\uFFFF',
    ],
  ),
  { minLength: 0, maxLength: 5 },
)
const anyText = fc.oneof(
  hard.map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '').toWellFormed()),
)
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((n) => (n === 0 ? 0 : n))
const { value } = fc.letrec<{ value: JsonValue; list: JsonValue[]; map: Record<string, JsonValue> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    anyText,
    number,
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('map'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  map: fc.dictionary(
    anyText.filter((key) => key !== '__proto__'),
    tie('value'),
    { maxKeys: 4, noNullPrototype: true },
  ),
}))

test('any text comes back the same, as a value, in a list and as a key', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      fc.pre(text !== '__proto__')
      const metadata: Metadata = { title: text, tags: [text, text], [`${text}x`]: { [text]: [[text]] } }
      const yaml = writeYaml(metadata)
      assert.deepEqual(parse(yaml), metadata)
      assert.deepEqual(parse(yaml, { version: '1.1', schema: 'core' }), metadata)
      assert.deepEqual(parseYaml(yaml), metadata)
      assert.doesNotMatch(yaml, /^---/m)
    }),
    { numRuns: 3000 },
  )
})

test('any metadata comes back the same', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        anyText.filter((key) => key !== '__proto__'),
        value,
        { noNullPrototype: true },
      ),
      (metadata) => {
        assert.deepEqual(parseYaml(writeYaml(metadata)), metadata)
      },
    ),
    { numRuns: 1500 },
  )
})

test('what would be too much to be read again is not written', () => {
  const short = Object.fromEntries(Array.from({ length: 6000 }, (_, at) => [`k${at}`, 1]))
  assert.throws(() => writeYaml(short), /marks between them are more than/)
  assert.throws(() => writeYaml({ list: Array(10_000).fill(1) }), /marks between them are more than/)
  assert.throws(() => writeYaml({ list: Array(100_000).fill([1]) }), /longer than/)
})

test('no more is written than can be kept', () => {
  let asked = 0
  const item = {
    get name() {
      asked++
      return 'x'.repeat(1000)
    },
  }
  assert.throws(() => writeYaml({ list: Array(10_000).fill(item) }), /longer than/)
  assert.ok(asked < 1000, String(asked))
})
