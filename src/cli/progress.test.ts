import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../platform/clock/clock.ts'
import { formatBytes, Progress } from './progress.ts'

function stream(isTTY: boolean, columns = 80) {
  const written: string[] = []
  let elapsed = 0
  const clock: Clock = { now: () => 0, elapsedMs: () => elapsed, after: () => () => {} }
  const progress = new Progress(clock, { isTTY, columns, write: (text: string) => written.push(text) })
  return { progress, written, pass: (ms: number) => (elapsed += ms) }
}

test('elsewhere than on a terminal a line appears for each tenth, and none in between', () => {
  const { progress, written } = stream(false)
  for (let done = 0; done <= 1000; done++) progress.report('copying', done, 1000)
  progress.end()
  assert.ok(written.length >= 10 && written.length <= 12, `${written.length} lines`)
  assert.equal(written[0], 'copying: 0 % (0 of 1,000)\n')
  assert.equal(written.at(-1), 'copying: 100 % (1,000 of 1,000)\n')
})

test('slow work shows signs of life even where nobody knows how long it takes', () => {
  const { progress, written, pass } = stream(false)
  progress.report('counting', 10)
  progress.report('counting', 20)
  pass(5_000)
  progress.report('counting', 30)
  assert.deepEqual(written, ['counting: (10)\n', 'counting: (30)\n'])
})

test('a step of which nothing is known yet is only named', () => {
  const { progress, written } = stream(false)
  progress.report('verifying')
  assert.deepEqual(written, ['verifying …\n'])
})

test('a terminal gets one line that is redrawn ten times a second at most', () => {
  const { progress, written, pass } = stream(true)
  for (let done = 0; done < 100; done++) {
    progress.report('copying', done, 200)
    pass(10)
  }
  progress.end()
  assert.ok(written.length <= 12, `${written.length} drawings`)
  assert.match(written.at(-2) as string, /^\r\S*copying \[#{11}\.{13}\] {2}45 % {2}90 of 200$/)
  assert.equal(written.at(-1), '\n')
})

test('the last step is always shown, and another label begins another line', () => {
  const { progress, written } = stream(true)
  progress.report('copying', 0, 10)
  progress.report('copying', 10, 10)
  progress.report('verifying', 0, 10)
  assert.match(written[1] as string, /100 %/)
  assert.equal(written[2], '\n')
})

test('a line never grows wider than the terminal', () => {
  const { progress, written } = stream(true)
  progress.report('x'.repeat(200), 1, 2)
  assert.ok((written[0] as string).length < 90)
})

test('what grows while it is done is never more than all of it', () => {
  const { progress, written } = stream(true)
  progress.report('reading', 50, 40)
  assert.match(written[0] as string, /50 of 50$/)
})

test('a line is whole on a terminal that does not know its width', () => {
  const { progress, written } = stream(true, 0)
  progress.report('copying', 1, 200)
  assert.match(written[0] as string, /1 of 200$/)
})

test('sizes are told in the unit a person would choose', () => {
  assert.deepEqual([0, 999, 1000, 1_500_000, 2e12].map(formatBytes), ['0 B', '999 B', '1.0 kB', '1.5 MB', '2.0 TB'])
})
