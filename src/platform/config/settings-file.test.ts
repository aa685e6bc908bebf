import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../../test/support/temp-dir.ts'
import { Problems } from './problems.ts'
import { SettingsError } from './settings-error.ts'
import { parseYaml, readSettingsFile } from './settings-file.ts'

function problemsOf(read: (problems: Problems) => unknown): string[] {
  const problems = new Problems()
  read(problems)
  try {
    problems.throwIfAny()
    return []
  } catch (error) {
    assert.ok(error instanceof SettingsError)
    return error.problems.map(({ path, message }) => `${path} ${message}`)
  }
}

function complaints(yaml: string): string[] {
  return problemsOf((problems) => parseYaml(yaml, 'f.yaml', problems))
}

test('values know their line', () => {
  const file = parseYaml('server:\n  port: 1\n  trusted_proxies:\n    - a\n    - b\n', 'f.yaml', new Problems())
  assert.deepEqual(file.tree, { server: { port: 1, trusted_proxies: ['a', 'b'] } })
  assert.equal(file.placeOf(['server', 'port']), 'f.yaml:2')
  assert.equal(file.placeOf(['server', 'trusted_proxies', 1]), 'f.yaml:5')
  assert.equal(file.placeOf(['nowhere', 'at', 'all']), 'f.yaml')
})

test('an empty file and a file of comments say nothing', () => {
  for (const yaml of ['', '# nothing\n', '---\n', 'null']) assert.deepEqual(complaints(yaml), [], yaml)
})

test('a syntax error names its position and quotes nothing of the file', () => {
  const [first] = complaints('auth:\n  admin_token: "hunter2hunter2\n  x: [')
  assert.match(first ?? '', /^f\.yaml is not valid YAML at line \d+, column \d+: /)
  assert.doesNotMatch(first ?? '', /hunter2/)
})

test('a key that is there twice is found at every depth', () => {
  assert.match(complaints('server:\n  port: 1\n  port: 2').join(), /line 3, column 3: This key is there twice/)
  assert.match(complaints('a: 1\n"a": 2').join(), /line 2, column 1: This key is there twice/)
})

test('what is no single map of plain values is refused', () => {
  for (const yaml of [
    '- a',
    'text',
    '42',
    'a: 1\n---\nb: 2',
    'a: !!js/function x',
    '? [a]\n: b',
    'server:\n\tport: 1',
  ]) {
    assert.equal(complaints(yaml).length, 1, yaml)
  }
})

test('nesting and aliases cannot use up time or memory', () => {
  const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]']
  for (const [name, last] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf', 'hg', 'ih'])
    bomb.push(`${name}: &${name} [${Array(9).fill(`*${last}`)}]`)
  assert.match(complaints(bomb.join('\n')).join(), /aliases too often/)
  assert.match(complaints('['.repeat(20_000)).join(), /Nested too deeply/)
})

test('a large map is read in time', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `key_${index}: ${index}`)
  assert.deepEqual(complaints(keys.join('\n')), [])
})

test('a file that cannot be read is told apart from one that is not there', () => {
  const folder = tempDir()
  writeFileSync(join(folder, 'binary.yaml'), Buffer.from([0xff, 0xfe, 0x00]))
  writeFileSync(join(folder, 'huge.yaml'), '#'.repeat(1_048_577))
  const complaint = (name: string | undefined) =>
    problemsOf((problems) => readSettingsFile(name, folder, problems)).join()
  assert.equal(complaint(undefined), '')
  assert.match(complaint('none.yaml'), /none\.yaml does not exist;/)
  assert.match(complaint('.'), /is a folder, not a file/)
  assert.match(complaint('binary.yaml'), /is not UTF-8 text/)
  assert.match(complaint('huge.yaml'), /is larger than 1048576 bytes/)
  assert.match(complaint('a\0b'), /has a NUL character in its path/)
  assert.match(complaint('/dev/null'), /is not a regular file/)
})
