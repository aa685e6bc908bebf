import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createScan, createScanMemory, MOST_DIMENSIONS, PAGE, QUESTION_MAX, ROW_STEP } from './scan-kernel.ts'

interface Rows {
  width: number
  rows: Int8Array
  factors: Float32Array
  question: Int16Array
}

/** Rows, factors, question, addresses and hits one after the other, as a caller would have them. */
function scanAll({ width, rows, factors, question }: Rows, least: number, isListed = false): [number, number][] {
  const factorsAt = rows.length
  const questionAt = factorsAt + 4 * factors.length
  const addressesAt = questionAt + 2 * question.length
  const hitsAt = addressesAt + 4 * factors.length
  const memory = createScanMemory(Math.ceil((hitsAt + 8 * (factors.length + 1)) / PAGE))
  new Int8Array(memory.buffer).set(rows)
  new Float32Array(memory.buffer, factorsAt).set(factors)
  new Int16Array(memory.buffer, questionAt).set(question)
  new Int32Array(memory.buffer, addressesAt).set(factors.map((_, row) => row * width))
  const apart = factors.length / ROW_STEP
  const scan = createScan(memory, width, isListed ? 'listed' : { apart })
  const [from, to] = isListed ? [addressesAt, hitsAt] : [0, apart * width]
  const count = scan(from, to, factorsAt, questionAt, hitsAt, least, 100)
  const view = new DataView(memory.buffer, hitsAt)
  const hits = Array.from({ length: count }, (_, hit): [number, number] => [
    view.getInt32(8 * hit, true) - 100,
    view.getFloat32(8 * hit + 4, true),
  ])
  return hits.sort(([one], [other]) => one - other)
}

function expected({ width, rows, factors, question }: Rows, least: number): [number, number][] {
  return [...factors].flatMap((factor, row): [number, number][] => {
    let product = 0
    for (let at = 0; at < width; at++) product += (rows[row * width + at] as number) * (question[at] as number)
    const score = Math.fround(Math.fround(product) * factor)
    return score > least ? [[row, score]] : []
  })
}

test('a scan, in four places at once or of a list of rows, finds exactly the rows whose product with the question, times their factor, is large enough', () => {
  const worlds = fc
    .record({ sixteens: fc.integer({ min: 1, max: 20 }), steps: fc.integer({ min: 1, max: 8 }) })
    .chain(({ sixteens, steps }) => {
      const [width, count] = [16 * sixteens, ROW_STEP * steps]
      return fc.record({
        width: fc.constant(width),
        rows: fc.int8Array({ minLength: width * count, maxLength: width * count }),
        factors: fc.float32Array({ minLength: count, maxLength: count, min: 0, max: 1, noNaN: false }),
        question: fc
          .array(fc.integer({ min: -QUESTION_MAX, max: QUESTION_MAX }), { minLength: width, maxLength: width })
          .map((numbers) => Int16Array.from(numbers)),
      })
    })
  fc.assert(
    fc.property(worlds, fc.integer({ min: -1000, max: 1000 }), (world, least) => {
      assert.deepEqual(scanAll(world, least), expected(world, least))
      assert.deepEqual(scanAll(world, least, true), expected(world, least))
    }),
    { numRuns: 60 },
  )
})

test('the largest numbers of the widest rows do not overflow', () => {
  const width = MOST_DIMENSIONS
  const rows = new Int8Array(ROW_STEP * width).fill(127)
  const world = {
    width,
    rows,
    factors: new Float32Array(ROW_STEP).fill(1),
    question: new Int16Array(width).fill(QUESTION_MAX),
  }
  const score = Math.fround(127 * QUESTION_MAX * width)
  assert.deepEqual(
    scanAll(world, 0),
    [0, 1, 2, 3].map((row) => [row, score]),
  )
  world.question.fill(-QUESTION_MAX)
  assert.equal(scanAll(world, -3e9)[0]?.[1], -score)
})

test('a row without a factor is never found', () => {
  const rows = new Int8Array(ROW_STEP * 16).fill(1)
  const factors = Float32Array.of(1, Number.NaN, 1, Number.NaN)
  const found = scanAll({ width: 16, rows, factors, question: new Int16Array(16).fill(1) }, Number.NEGATIVE_INFINITY)
  assert.deepEqual(
    found.map(([row]) => row),
    [0, 2],
  )
})

test('rows of a width that does not fit are refused', () => {
  for (const width of [0, 8, 17, MOST_DIMENSIONS + 16]) {
    assert.throws(() => createScan(createScanMemory(1), width, 'listed'), RangeError)
  }
})
