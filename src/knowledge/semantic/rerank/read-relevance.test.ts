import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRelevance } from './read-relevance.ts'

const read = (answer: unknown) =>
  readRelevance(Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)), 3, 'The service')

test('relevance is read by text, whatever the order, and some may be left out', () => {
  const results = [
    { index: 2, relevance_score: 0.9, document: { text: 'sent back' } },
    { index: 0, relevance_score: -4 },
  ]
  assert.deepEqual(read({ results }), [-4, undefined, 0.9])
  assert.deepEqual(read({ results: [] }), [undefined, undefined, undefined])
})

test('what is no answer to the question is a bad gateway', () => {
  const one = { index: 0, relevance_score: 1 }
  for (const answer of [
    '<html>',
    '',
    'null',
    [],
    {},
    { results: {} },
    { results: [null] },
    { results: [one, one] },
    ...[3, -1, 0.5, '0', null].map((index) => ({ results: [{ index, relevance_score: 1 }] })),
    ...['1', null, undefined].map((score) => ({ results: [{ index: 0, relevance_score: score }] })),
  ]) {
    assert.throws(() => read(answer), { code: 'bad_gateway' }, JSON.stringify(answer))
  }
})
