import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasOwnSpelling, spelledAs } from './numerals.ts'
import { parseYaml } from './yaml-read.ts'
import { writeYaml } from './yaml-write.ts'

function written(yaml: string): string {
  return spelledAs(yaml, writeYaml(parseYaml(yaml)))
}

test('a decimal keeps the zeros at its end, wherever it stands', () => {
  const yaml = 'version: 3.10\nprice:\n  list:\n  - 1.50\n  - 2.5\n  - -0.0\nzero: 2.0\n'
  assert.equal(written(yaml), yaml)
  assert.equal(written('{version: 3.10, list: [1.50]} # both\n'), 'version: 3.10\nlist:\n- 1.50\n')
})

test('whether a text has such decimals is known before it is read', () => {
  for (const yaml of ['a: 3.10\n', 'a: 2.0', '[-1.50, 2]', 'a: 1.0 # one'])
    assert.equal(hasOwnSpelling(yaml), true, yaml)
  for (const yaml of ['a: 3.1\n', 'a: 10', 'a: 3.101', 'a: 1.0.1', 'a: .x0'])
    assert.equal(hasOwnSpelling(yaml), false, yaml)
})

test('other numbers are written as they are worth, and texts stay texts', () => {
  assert.equal(
    written("hex: 0x1F\nexp: 1e3\nzero: 2.0\ntext: '3.10'\n"),
    "hex: 31\nexp: 1000\nzero: 2.0\ntext: '3.10'\n",
  )
})

test('a number that is another by now, or stands elsewhere, is left alone', () => {
  assert.equal(spelledAs('a: 3.10\nb: 1.50\n', 'a: 3.2\nc: 1.5\n'), 'a: 3.2\nc: 1.5\n')
  assert.equal(
    spelledAs('a: 3.10\n', '# a: 3.1\na: 3.1 # as it is\nb: 3.1\n'),
    '# a: 3.1\na: 3.10 # as it is\nb: 3.1\n',
  )
})

test('a spelling that would make the frontmatter too long is not kept', () => {
  const long = `a: 1.5${'0'.repeat(40_000)}\n`
  const yaml = `a: 1.5\nb: ${'x'.repeat(40_000)}\n`
  assert.equal(spelledAs(long, yaml), yaml)
  assert.equal(spelledAs(long, 'a: 1.5\n'), long)
})
