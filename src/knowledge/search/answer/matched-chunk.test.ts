import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchedChunk } from './matched-chunk.ts'

const LONG = `${'a'.repeat(1_000)} ${'b'.repeat(1_000)} ${'c'.repeat(1_000)}`
const PLACES = new Map([0, 1, 2].map((number) => [`${number}`, { start: number * 1_001, end: number * 1_001 + 1_000 }]))
const near = (...numbers: number[]) => numbers.map((number) => ({ number, hash: `${number}`, similarity: 0.5 }))

test('of a short note all of its body is told', () => {
  assert.equal(matchedChunk('---\na: b\n---\n\nbody', 'body', near(0), new Map()), 'body')
})

test('of a long note the chunks that are near are told, best first, each once', () => {
  const chunk = matchedChunk(LONG, LONG, near(2, 0, 2), PLACES)
  assert.equal(chunk, `${'c'.repeat(1_000)}\n---\n${'a'.repeat(1_000)}`)
})

test('of a long note never more than five chunks are told', () => {
  const places = new Map(
    Array.from({ length: 20 }, (_, number) => [`${number}`, { start: number * 100, end: number * 100 + 50 + number }]),
  )
  const chunk = matchedChunk(LONG, LONG, near(...Array(20).keys()), places)
  assert.equal(chunk.split('\n---\n').length, 5)
})

test('of a long note that was found by its words, or whose chunks moved away, the beginning is told', () => {
  for (const chunks of [near(), near(9)]) assert.equal(matchedChunk(LONG, LONG, chunks, PLACES), LONG.slice(0, 2_000))
  assert.equal(matchedChunk(LONG, LONG, near(0), new Map([['0', { start: 9_000, end: 9_900 }]])), LONG.slice(0, 2_000))
})

test('no half of a character is told', () => {
  const body = `${'a'.repeat(1_999)}😀${'b'.repeat(1_000)}`
  assert.equal(matchedChunk(body, body, near(), PLACES), 'a'.repeat(1_999))
})
