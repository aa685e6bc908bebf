import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isAppError } from '../../../platform/errors/app-error.ts'
import { BuiltinModel } from './builtin-model.ts'
import { readModelFile } from './model-file.ts'

const model = BuiltinModel.load()
const file = readFileSync(new URL('model.bin', import.meta.url))

function vectorOf(text: string): Float32Array {
  const [vector] = model.embed([text])
  assert.ok(vector)
  return vector
}

function similarity(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0)
}

const HOSTILE = ['', ' \n\t', '\0', '\ud800', '\u{1f469}\u200d\u{1f680}', '('.repeat(10_000), 'a'.repeat(1_000_000)]

test('the model file is small enough to live in the repository', () => {
  assert.ok(file.length < 12_000_000)
})

test('every vector has the dimensions of the model and length one, whatever the text', () => {
  for (const vector of model.embed([...HOSTILE, 'A plain sentence.', '日本語'])) {
    assert.equal(vector.length, model.dimensions)
    assert.ok(Math.abs(similarity(vector, vector) - 1) < 1e-5)
  }
})

test('a text without words has one and the same vector', () => {
  assert.deepEqual(vectorOf(''), vectorOf('\0 \n'))
})

test('what is not known counts for nothing in a question, and one of nothing else has a vector of zeros', () => {
  const [known, mixed, unknown, none] = model.embed(['coffee', 'coffee ሰላም', 'ሰላም ለዓለም', ''], 'query')
  assert.deepEqual(known, vectorOf('coffee'))
  assert.deepEqual(mixed, known)
  assert.deepEqual(unknown, new Float32Array(model.dimensions))
  assert.deepEqual(none, unknown)
})

test('the same text has the same vector, alone or among others, in this instance or another', () => {
  const texts = ['Bread is baked in the oven.', '', 'Bread is baked in the oven.', 'x'.repeat(5000)]
  const [first, , third] = model.embed(texts)
  assert.deepEqual(first, third)
  assert.deepEqual(BuiltinModel.load().embed(texts), texts.map(vectorOf))
})

test('a text of more distinct tokens than one call of the kernel takes has the vector of all of them', () => {
  const { vocabulary } = readModelFile(file, 'model.bin')
  const words = vocabulary.filter((token) => /^[a-z]{3,}$/.test(token)).slice(0, 5000)
  const whole = vectorOf(words.join(' '))
  const early = vectorOf(words.slice(0, 2048).join(' '))
  const late = vectorOf(words.slice(-2048).join(' '))
  assert.ok(similarity(whole, early) > 0.5 && similarity(whole, late) > 0.5)
})

test('what means alike lies closer than what does not', () => {
  const question = vectorOf('How do I bake bread?')
  const answer = vectorOf('Mix flour, water, salt and yeast, then put the loaf into the oven.')
  const other = vectorOf('The stock market fell sharply on Monday.')
  assert.ok(similarity(question, answer) > similarity(question, other) + 0.1)
})

test('the vector is the damped and weighted sum of the rows', () => {
  const { vocabulary, scales, rows, dimensions, damping } = readModelFile(file, 'model.bin')
  const sum = new Float64Array(dimensions)
  for (const [token, count] of [
    ['bread', 3],
    ['oven', 1],
  ] as const) {
    const id = vocabulary.indexOf(token)
    const weight = (scales[id] ?? 0) * count ** (1 - damping)
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + weight * (rows[id * dimensions + i] ?? 0)
  }
  const length = Math.hypot(...sum)
  const vector = vectorOf('bread oven bread bread')
  for (let i = 0; i < dimensions; i++) assert.ok(Math.abs((vector[i] ?? 0) - (sum[i] ?? 0) / length) < 1e-5)
})

test('the version names the very bytes of the model', () => {
  assert.equal(model.version, readModelFile(file, 'model.bin').version)
  assert.match(model.version, /^1-[0-9a-f]{12}$/)
})

test('a damaged, cut or foreign model file is refused with its name and what to do', () => {
  const flipped = Buffer.from(file)
  flipped[flipped.length - 5] = (flipped[flipped.length - 5] ?? 0) ^ 1
  for (const bytes of [flipped, file.subarray(0, 1000), Buffer.from('version https://example.org/pointer')]) {
    assert.throws(
      () => readModelFile(bytes, 'model.bin'),
      (error) => isAppError(error, 'internal') && /model\.bin .*install the server again/.test(error.message),
    )
  }
})
