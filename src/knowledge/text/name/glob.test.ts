import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileNameGlob, starGlob } from './glob.ts'

const CASES: [pattern: string, matching: string[], others: string[]][] = [
  ['*.md', ['a.md', '.md'], ['a.txt', 'a.md.txt', 'a.MD']],
  ['note-?.md', ['note-1.md', 'note-😀.md'], ['note-.md', 'note-12.md']],
  ['[a-c]*[!0-9]', ['ax', 'c-'], ['dx', 'a1']],
  ['[a-cx-z_]', ['a', 'b', 'c', 'x', 'z', '_'], ['d', 'w', '-', '']],
  ['[!a-cx]', ['d', '-', ']', '!'], ['a', 'b', 'c', 'x']],
  ['[a-]', ['a', '-'], ['b', ']']],
  ['[azc]d', ['ad', 'zd', 'cd'], ['d', 'bd', 'dd']],
  ['[!]]', ['a', '!'], [']']],
  ['[!a', ['[!a'], ['a', 'b']],
  ['[]]', [']'], ['[', '[]]']],
  ['[', ['['], ['', 'a']],
  ['*a*b*', ['ab', 'xxaxxbxx'], ['ba', 'a', 'b']],
  ['', [''], ['a']],
  ['**', ['', 'anything'], []],
]

test('a glob matches whole names', () => {
  for (const [pattern, matching, others] of CASES) {
    const matches = fileNameGlob(pattern)
    for (const name of matching) assert.ok(matches(name), `${pattern} should match ${name}`)
    for (const name of others) assert.ok(!matches(name), `${pattern} should not match ${name}`)
  }
})

test('in a glob of stars alone everything else stands for itself', () => {
  assert.ok(starGlob('a/*/[x]?')('a/b/c/[x]?'))
  assert.ok(!starGlob('a/*/[x]?')('a/b/x1'))
})

test('a glob of stars matches as one that looks at every character', () => {
  const fits = (pattern: string, text: string): boolean => {
    if (pattern === '') return text === ''
    if (pattern[0] === '*') return fits(pattern.slice(1), text) || (text !== '' && fits(pattern, text.slice(1)))
    return pattern[0] === text[0] && fits(pattern.slice(1), text.slice(1))
  }
  const words = (letters: string, longest: number): string[] =>
    longest === 0 ? [''] : ['', ...words(letters, longest - 1).flatMap((word) => [...letters].map((one) => one + word))]
  const [patterns, texts] = [words('ab*', 5), words('ab', 5)]
  for (const pattern of patterns) {
    const matches = starGlob(pattern)
    for (const text of texts) assert.equal(matches(text), fits(pattern, text), `${pattern} ${text}`)
  }
})

test('a glob of stars looks for long pieces in long names as quickly as for short ones', () => {
  const [half, whole] = ['a'.repeat(100_000), 'a'.repeat(200_000)]
  for (const pattern of [`*${half}b`, `*${half}b*`, `*b${half}*`, `*${half}b${half}*`]) {
    for (const glob of [starGlob, fileNameGlob]) assert.ok(!glob(pattern)(whole))
  }
})

test('a hostile glob takes no longer than pattern times text', () => {
  const matches = fileNameGlob('*a'.repeat(100))
  assert.ok(!matches(`${'a'.repeat(255)}b`))
})

test('a class of hundreds of characters and ranges is one of them, however often each is named', () => {
  const matches = fileNameGlob(`*[${'z'.repeat(100)}${'c-d'.repeat(50)}-😀]`)
  for (const end of ['z', 'c', 'd', '-', '😀']) assert.ok(matches(`${'a'.repeat(250)}${end}`), end)
  for (const end of ['a', 'b', 'e', 'y', '😁']) assert.ok(!matches(`${'z'.repeat(250)}${end}`), end)
})
