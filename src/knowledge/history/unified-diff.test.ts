import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { atOnce } from '../text/steps.ts'
import { diffLines, linesOf } from './line-diff.ts'
import { unifiedDiff } from './unified-diff.ts'

function diff(before: string, after: string): string {
  return atOnce(unifiedDiff({ label: 'a', text: before }, { label: 'b', text: after })).text
}

test('shows changed lines with three lines around them', () => {
  const before = '1\n2\n3\n4\n5\n6\n7\n8\n9\n'
  assert.equal(
    diff(before, before.replace('5\n', 'five\nfive and a half\n')),
    '--- a\n+++ b\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+five and a half\n 6\n 7\n 8\n',
  )
})

test('changes far from one another stand in hunks of their own', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `${index}\n`)
  const text = diff(lines.join(''), lines.with(2, 'x\n').with(25, 'y\n').join(''))
  assert.equal(text.match(/^@@/gm)?.length, 2)
})

test('changes whose lines around them touch stand in one hunk', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `${index}\n`)
  const hunks = (second: number) =>
    diff(lines.join(''), lines.with(2, 'x\n').with(second, 'y\n').join('')).match(/^@@.*/gm)
  assert.deepEqual(hunks(9), ['@@ -1,13 +1,13 @@'])
  assert.deepEqual(hunks(10), ['@@ -1,6 +1,6 @@', '@@ -8,7 +8,7 @@'])
})

test('lines that came and lines that went are counted', () => {
  const after = { label: 'b', text: '1\nx\ny\n4\n5\n6\n7\n8\n9\nz\n' }
  const { added, removed } = atOnce(unifiedDiff({ label: 'a', text: '1\n2\n4\n5\n6\n7\n8\n9\n10\n11\n12\n' }, after))
  assert.deepEqual([added, removed], [3, 4])
})

test('a missing line end is a difference and is named', () => {
  assert.equal(diff('a', 'a\n'), '--- a\n+++ b\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n')
})

test('a text that begins or ends from nothing names line zero', () => {
  assert.equal(diff('', 'a\n'), '--- a\n+++ b\n@@ -0,0 +1 @@\n+a\n')
  assert.equal(diff('a\n', ''), '--- a\n+++ b\n@@ -1 +0,0 @@\n-a\n')
})

test('equal texts have no difference', () => {
  assert.deepEqual(atOnce(unifiedDiff({ label: 'a', text: 'x' }, { label: 'b', text: 'x' })), {
    text: '',
    added: 0,
    removed: 0,
  })
})

test('a label never adds a line', () => {
  const { text } = atOnce(unifiedDiff({ label: 'a\r\n+++ x', text: '1\n' }, { label: 'b', text: '2\n' }))
  assert.deepEqual(text.split(/[\r\n]+/).slice(0, 2), ['--- a  +++ x', '+++ b'])
})

const lines = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n', '\n'), { maxLength: 40 })

test('the changes make the new text of the old one, and no shorter edit does', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const changes = atOnce(diffLines(before, after))
      const rebuilt: string[] = []
      let at = 0
      for (const { oldStart, oldEnd, newStart, newEnd } of changes) {
        rebuilt.push(...before.slice(at, oldStart), ...after.slice(newStart, newEnd))
        at = oldEnd
      }
      rebuilt.push(...before.slice(at))
      assert.deepEqual(rebuilt, after)
      const size = changes.reduce((sum, c) => sum + c.oldEnd - c.oldStart + c.newEnd - c.newStart, 0)
      assert.equal(size, before.length + after.length - 2 * longestCommon(before, after))
    }),
  )
})

function longestCommon(one: readonly string[], other: readonly string[]): number {
  let row = new Array<number>(other.length + 1).fill(0)
  for (const line of one) {
    const next = [0]
    for (const [index, candidate] of other.entries()) {
      next.push(
        line === candidate ? (row[index] as number) + 1 : Math.max(row[index + 1] as number, next[index] as number),
      )
    }
    row = next
  }
  return row.at(-1) as number
}

test('texts that have nothing in common are shown as replaced, whatever their size', () => {
  const before = Array.from({ length: 20_000 }, (_, index) => `old ${index}\n`).join('')
  const after = Array.from({ length: 20_000 }, (_, index) => `new ${index}\n`).join('')
  assert.equal(atOnce(diffLines(linesOf(before), linesOf(after))).length, 1)
})

test('long texts are compared step by step, so that others have their turn between them', () => {
  const text = (from: number) => Array.from({ length: 20_000 }, (_, at) => `line ${from + at}\n`).join('')
  const steps = unifiedDiff({ label: 'a', text: text(0) }, { label: 'b', text: text(50_000) })
  let taken = 0
  while (!steps.next().done) taken++
  assert.ok(taken >= 40_000, String(taken))
})
