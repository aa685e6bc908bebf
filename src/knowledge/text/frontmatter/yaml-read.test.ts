import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../../platform/errors/app-error.ts'
import { parseYaml } from './yaml-read.ts'

function refuses(yaml: string, reason: RegExp): void {
  assert.throws(
    () => parseYaml(yaml),
    (error) => {
      assert.ok(isAppError(error, 'invalid_argument'), String(error))
      assert.match(error.message, reason)
      assert.ok(error.message.length < 1000)
      return true
    },
  )
}

test('keeps numbers, booleans, nulls and nesting, in order', () => {
  const metadata = parseYaml('z: 3\na: 1.5\nflag: true\nnone:\nlist: [1, b]\nmap:\n  k: {x: ~}\n')
  assert.deepEqual(metadata, { z: 3, a: 1.5, flag: true, none: null, list: [1, 'b'], map: { k: { x: null } } })
  assert.deepEqual(Object.keys(metadata), ['z', 'a', 'flag', 'none', 'list', 'map'])
})

test('leaves dates and the other types of YAML 1.1 as texts', () => {
  assert.deepEqual(parseYaml('date: 2026-01-31\nat: 2026-01-31T10:00:00Z\nflag: yes\ntime: 10:30\n'), {
    date: '2026-01-31',
    at: '2026-01-31T10:00:00Z',
    flag: 'yes',
    time: '10:30',
  })
})

test('keeps as text what a number cannot hold', () => {
  assert.deepEqual(parseYaml('a: .inf\nb: -.INF\nc: .nan\nd: 12345678901234567890\ne: 1e999\nf: 1e20\ng: 0x1F\n'), {
    a: '.inf',
    b: '-.INF',
    c: '.nan',
    d: '12345678901234567890',
    e: '1e999',
    f: 1e20,
    g: 31,
  })
  assert.deepEqual(parseYaml('code: 01234\nphone: +4930123\nnone: 00\nzero: 0\nless: -12\nlist: [007, 7]\n'), {
    code: '01234',
    phone: '+4930123',
    none: '00',
    zero: 0,
    less: -12,
    list: ['007', 7],
  })
})

test('takes a number for what is written where a text is meant', () => {
  assert.deepEqual(
    parseYaml('title: 1.10\ntype: 2.0\ntags: [python, 3.10, 5, 1e3]\naliases:\n- 0x10\nversion: 3.10\n'),
    {
      title: '1.10',
      type: '2.0',
      tags: ['python', '3.10', 5, '1e3'],
      aliases: ['0x10'],
      version: 3.1,
    },
  )
  assert.deepEqual(parseYaml('of: {tags: [3.10]}\n'), { of: { tags: [3.1] } })
})

test('takes tagged values for what is written', () => {
  assert.deepEqual(
    parseYaml('a: !!binary aGk=\nb: !custom x\nc: !!str 12\nd: !!set {x, y}\ne: !!timestamp 2026-01-31\n'),
    {
      a: 'aGk=',
      b: 'x',
      c: '12',
      d: { x: null, y: null },
      e: '2026-01-31',
    },
  )
})

test('keys are texts', () => {
  assert.deepEqual(parseYaml('1: a\ntrue: b\nnull: c\n"": d\n'), { 1: 'a', true: 'b', null: 'c', '': 'd' })
})

test('has no reserved keys', () => {
  const yaml = 'content: a\nhandler: b\nmetadata: c\nconstructor: d\ntoString: e\n'
  assert.deepEqual(Object.keys(parseYaml(yaml)), ['content', 'handler', 'metadata', 'constructor', 'toString'])
})

test('a merge key is a key like others', () => {
  assert.deepEqual(parseYaml('base: &b {x: 1}\nuse:\n  <<: *b\n'), { base: { x: 1 }, use: { '<<': { x: 1 } } })
})

test('refuses what is not a mapping', () => {
  refuses('- a\n- b\n', /not a list of keys/)
  refuses('just text\n', /not a list of keys/)
  refuses('\nSome text\n\n', /not a list of keys/)
})

test('says what to change in the text, not how to call a library', () => {
  refuses('a: 1\n...\nb: 2\n', /line \d: more follows behind its end/)
  refuses('a: 1\n--- b\nc: 2\n', /line \d: more follows behind its end/)
  refuses('a: {{title}}\n', /line 1: a key is not a text; quote a value that begins with/)
  refuses('? [a, b]\n: c\n', /line 1: a key is not a text/)
})

test('names the line of what is not YAML', () => {
  refuses('a: 1\nb: [1, 2\n', /line [23]/)
  refuses('title: a: b\n', /line 1/)
  refuses('a: 1\n...\nb: 2\n', /line/)
  refuses('\tkey: x\n', /./)
  refuses('a: {{title}}\n', /line 1/)
})

test('refuses a key that stands there twice, at any depth', () => {
  refuses('a: 1\nb: 2\na: 3\n', /"a" stands in it twice/)
  refuses('x:\n  a: 1\n  a: 1\n', /twice/)
  refuses('x: {a: 1, "a": 1}\n', /twice/)
})

test('refuses __proto__ as a key, at any depth', () => {
  refuses('__proto__: {x: 1}\n', /__proto__/)
  refuses('a: {__proto__: {x: 1}}\n', /__proto__/)
  refuses('"__proto__": 1\n', /__proto__/)
  assert.equal(({} as Record<string, unknown>).x, undefined)
})

test('aliases stand for what their anchor means at that place', () => {
  assert.deepEqual(parseYaml('&k a: 1\nb: *k\n'), { a: 1, b: 'a' })
  assert.deepEqual(parseYaml('a: &x 1\nb: *x\nc: &x 2\nd: *x\n'), { a: 1, b: 1, c: 2, d: 2 })
  refuses('a: *x\n', /no anchor/)
  refuses('a: &x [*x]\n', /no anchor/)
})

test('refuses aliases that stand for too many values', () => {
  const lines = ['l0: &l0 [x, x, x, x, x, x, x, x, x]']
  for (let at = 1; at < 12; at++)
    lines.push(
      `l${at}: &l${at} [${Array(9)
        .fill(`*l${at - 1}`)
        .join(', ')}]`,
    )
  refuses(`${lines.join('\n')}\n`, /aliases/)
})

test('refuses values that are nested too deep', () => {
  for (const depth of [40, 500, 10_000]) {
    refuses(`a: ${'['.repeat(depth)}${']'.repeat(depth)}\n`, /nested more than/)
    refuses(`a: ${'{a: '.repeat(depth)}1${'}'.repeat(depth)}\n`, /nested more than|line/)
    refuses(`${'- '.repeat(depth)}a\n`, /./)
  }
})

test('refuses frontmatter that is too long, however it is made', () => {
  const keys = Array.from({ length: 100_000 }, (_, at) => `key${at}: ${at}\n`).join('')
  refuses(keys, /longer than/)
  refuses(`a: ${'x'.repeat(10_000_000)}`, /longer than/)
})

test('refuses aliases that stand for a long text many times', () => {
  const uses = Array.from({ length: 3000 }, (_, at) => `b${at}: *x\n`).join('')
  refuses(`a: &x "${'y'.repeat(30_000)}"\n${uses}`, /with its aliases it is longer than/)
  refuses(`a: &x [${'y'.repeat(30_000)}]\nb: &y [*x, *x]\nc: *y\n`, /with its aliases it is longer than/)
  assert.deepEqual(parseYaml('a: &x word\nb: [*x, *x]\n'), { a: 'word', b: ['word', 'word'] })
})

test('refuses frontmatter of too many pieces, whatever they are', () => {
  for (const piece of [
    '#\n',
    '\n',
    '-\n',
    '- ',
    '? ',
    ':\n',
    ']',
    '}',
    ',',
    '&a ',
    '!t ',
    '*a ',
    '%A\n',
    'a: b: c\n',
    'a: "\n',
  ]) {
    for (const start of ['', 'a: 1\n', 'a: [', 'a: {']) {
      const yaml = start + piece.repeat((65_000 - start.length) / piece.length)
      refuses(yaml, /marks between them are more than|nested|not a list of keys|line \d/)
    }
  }
  refuses(Array.from({ length: 7000 }, (_, at) => `k${at}: 1\n`).join(''), /keep long lists in the body/)
})

test('one long text is one piece', () => {
  const text = 'some words: [and], {marks} - more, '.repeat(1500)
  assert.deepEqual(parseYaml(`a: |-\n  ${text}\n`), { a: text })
})

test('problems are told where they happened again after frontmatter was read', () => {
  const before = Error.stackTraceLimit
  assert.throws(() => parseYaml('a: [\n'))
  assert.equal(Error.stackTraceLimit, before)
})

test('thousands of keys are read', () => {
  const keys = Array.from({ length: 4000 }, (_, at) => `k${at}: ${at}\n`).join('')
  assert.equal(Object.keys(parseYaml(keys)).length, 4000)
})

test('escapes bring nothing in that cannot be stored', () => {
  assert.deepEqual(parseYaml('a: "x\\0y\\ud800z"\n"k\\0": 1\n'), { a: 'xy\uFFFDz', k: 1 })
})
