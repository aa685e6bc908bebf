import { at, section, signed, unsigned } from '../wasm-bytes.ts'

// The sum of weighted int8 rows, as a WebAssembly function with 128-bit vectors: five times as fast as a JavaScript
// loop. The module is small enough to be written out here, instruction by instruction.

// Only the browser's type library knows it.
declare const WebAssembly: {
  Memory: new (size: { initial: number }) => { buffer: ArrayBuffer }
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> }
}

/** How many rows one call takes. */
export const MOST_ROWS = 2048
const SUM_AT = 0
const PLACES_AT = 4096
const WEIGHTS_AT = PLACES_AT + 4 * MOST_ROWS
const ROWS_AT = 32_768
const PAGE = 65_536
// Numbers of a row that one round of the outer loop takes: their sums stay in eight registers.
const WIDTH = 32

export interface RowSum {
  /** Set to zero before the first call of a sum; holds it after the last. */
  sum: Float32Array
  /** By position in the call: the row's number times the dimensions, from `firstPlace` on. */
  places: Uint32Array
  weights: Float32Array
  firstPlace: number
  /** Adds the first `count` of `places`, weighted, to `sum`. */
  add: (count: number) => void
}

export function createRowSum(rows: Int8Array, dimensions: number): RowSum {
  if (dimensions % WIDTH !== 0 || dimensions * 4 > PLACES_AT) throw new RangeError(`Rows of ${dimensions} numbers.`)
  const memory = new WebAssembly.Memory({ initial: Math.ceil((ROWS_AT + rows.length) / PAGE) })
  new Int8Array(memory.buffer, ROWS_AT).set(rows)
  const module = new WebAssembly.Module(moduleBytes(dimensions))
  const { exports } = new WebAssembly.Instance(module, { m: { m: memory } })
  return {
    sum: new Float32Array(memory.buffer, SUM_AT, dimensions),
    places: new Uint32Array(memory.buffer, PLACES_AT, MOST_ROWS),
    weights: new Float32Array(memory.buffer, WEIGHTS_AT, MOST_ROWS),
    firstPlace: ROWS_AT,
    add: exports.add as (count: number) => void,
  }
}

const [I32, V128, FUNCTION, NOTHING] = [0x7f, 0x7b, 0x60, 0x40]
const [GET, SET, TEE, CONSTANT, END, LOOP, BRANCH_IF] = [0x20, 0x21, 0x22, 0x41, 0x0b, 0x03, 0x0d]
const [I32_LOAD, I32_ADD, I32_SHIFT_LEFT, I32_LESS] = [0x28, 0x6a, 0x74, 0x49]
const vector = (code: number): number[] => [0xfd, ...unsigned(code)]
const [LOAD, LOAD_SPLAT, STORE] = [vector(0x00), vector(0x09), vector(0x0b)]
const [WORDS_LOW, WORDS_HIGH] = [vector(0x87), vector(0x88)]
const [LONGS_LOW, LONGS_HIGH] = [vector(0xa7), vector(0xa8)]
const [TO_FLOAT, MULTIPLY, ADD] = [vector(0xfa), vector(0xe6), vector(0xe4)]
// Locals: the parameter, then integers, then vectors.
const [COUNT, BLOCK, AT, PLACE, ROW, WEIGHT, FIRST_SUM] = [0, 1, 2, 3, 4, 5, 6]

function moduleBytes(dimensions: number): Uint8Array<ArrayBuffer> {
  const locals = [2, 3, I32, 2 + WIDTH / 4, V128]
  const body = [...locals, ...program(dimensions), END]
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, FUNCTION, 1, I32, 0]),
    ...section(2, [1, 1, 0x6d, 1, 0x6d, 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, 3, ...Buffer.from('add'), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ])
}

/** For each block of numbers: its sums into registers, every row's part added, the sums back. */
function program(dimensions: number): number[] {
  const registers = Array.from({ length: WIDTH / 4 }, (_, number) => number)
  const sumsAddress = [GET, BLOCK, CONSTANT, 2, I32_SHIFT_LEFT]
  return [
    ...[GET, COUNT, CONSTANT, 2, I32_SHIFT_LEFT, SET, COUNT],
    ...[LOOP, NOTHING],
    ...registers.flatMap((r) => [...sumsAddress, ...LOAD, ...at(SUM_AT + 16 * r), SET, FIRST_SUM + r]),
    ...[CONSTANT, 0, SET, AT],
    ...[LOOP, NOTHING],
    ...[GET, AT, I32_LOAD, ...at(PLACES_AT), GET, BLOCK, I32_ADD, SET, PLACE],
    ...[GET, AT, ...LOAD_SPLAT, ...at(WEIGHTS_AT), SET, WEIGHT],
    ...[0, 16].flatMap((offset) => addSixteen(offset)),
    ...[GET, AT, CONSTANT, 4, I32_ADD, TEE, AT, GET, COUNT, I32_LESS, BRANCH_IF, 0, END],
    ...registers.flatMap((r) => [...sumsAddress, GET, FIRST_SUM + r, ...STORE, ...at(SUM_AT + 16 * r)]),
    ...[GET, BLOCK, CONSTANT, ...signed(WIDTH), I32_ADD, TEE, BLOCK, CONSTANT, ...signed(dimensions), I32_LESS],
    ...[BRANCH_IF, 0, END],
  ]
}

function addSixteen(offset: number): number[] {
  const halves = [WORDS_LOW, WORDS_HIGH].flatMap((words) => [LONGS_LOW, LONGS_HIGH].map((longs) => [words, longs]))
  return [
    ...[GET, PLACE, ...LOAD, ...at(offset), SET, ROW],
    ...halves.flatMap((steps, quarter) => {
      const register = FIRST_SUM + offset / 4 + quarter
      const widened = [GET, ROW, ...steps.flat(), ...TO_FLOAT]
      return [GET, register, ...widened, GET, WEIGHT, ...MULTIPLY, ...ADD, SET, register]
    }),
  ]
}
