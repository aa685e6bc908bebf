import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnsDuring } from '../../../test/support/turns-during.ts'
import { parseBody, parsingBody } from './body/parse-body.ts'
import { atOnce, inTurns, turnAfter } from './steps.ts'

function* counting(steps: number) {
  for (let at = 0; at < steps; at++) yield
  return steps
}

test('others have their turn while long work goes on, and none while short work does', async () => {
  assert.equal(await inTurns(counting(10)), 10)
  assert.equal(atOnce(counting(100_000)), 100_000)
  assert.equal(await turnsDuring(inTurns(counting(1_000))), 0)
  assert.ok((await turnsDuring(inTurns(counting(100_000)))) >= 20)
})

test('others have their turn whenever enough was done, whatever the pieces', async () => {
  const breathe = turnAfter(100)
  const work = async (pieces: readonly number[]) => {
    for (const piece of pieces) await breathe(piece)
  }
  assert.equal(await turnsDuring(work([40, 40, 19])), 0)
  assert.equal(await turnsDuring(work([1, 250, 60, 40])), 2)
})

test('a long text is parsed in turns, whatever it is made of, to the same result', async () => {
  for (const piece of [
    'a\n=\n',
    '- [a] b #t\n',
    '> quote\n\n',
    '# h\n',
    '- r [[x]]\n\n***\n',
    'text [[y]]\n\n    code\n',
    '```\n- [no]\n```\n',
  ]) {
    const body = piece.repeat(20_000)
    const work = inTurns(parsingBody(body))
    assert.ok((await turnsDuring(work)) >= 5, piece)
    assert.deepEqual(await work, parseBody(body), piece)
  }
})
