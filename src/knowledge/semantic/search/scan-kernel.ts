import { at, section, signed, unsigned } from '../wasm-bytes.ts'

// Scalar products of one vector with many int8 rows, as a WebAssembly function with 128-bit vectors. It is written out here,
// instruction by instruction, for rows of a given width. A row that lies in memory is read once; that is what takes the time.

// Only the browser's type library knows it.
declare const WebAssembly: {
  Memory: new (size: { initial: number }) => ScanMemory
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> }
}

export interface ScanMemory {
  /** Another one after every growth. */
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

export const PAGE = 65_536
/** Rows are scanned by so many at a time: there must always be a multiple of them. */
export const ROW_STEP = 4
/** A row has a multiple of so many numbers. */
export const WIDTH_STEP = 16
/** Of a number in the question. Products of the widest rows just fit 32 bits: 8192 * 127 * 2047 < 2^31. */
export const QUESTION_MAX = 2_047
export const MOST_DIMENSIONS = 8_192

/**
 * Scans rows against the 16-bit numbers at `question`. A row scores its product times its factor at `factors`. Those that score more
 * than `least` are written to `hits` as pairs of their number, counted from `first`, and the score; the answer is how many. A factor
 * that is not a number hides its row.
 */
export type Scan = (
  rows: number,
  end: number,
  factors: number,
  question: number,
  hits: number,
  least: number,
  first: number,
) => number

export function createScanMemory(pages: number): ScanMemory {
  return new WebAssembly.Memory({ initial: pages })
}

const modules = new Map<string, object>()

/**
 * Where the rows are that a scan gets the first address and the end of (never empty).
 *
 * `apart`: in four parts, so many rows from one another, which are scanned at the same time; the end is that of the first one. Of rows
 * that are not in the processor's caches this takes half the time: memory is fetched ahead in four places instead of one.
 *
 * `listed`: anywhere; the scan gets a list of their addresses, 32 bits each.
 */
export type RowLayout = { apart: number } | 'listed'

export function createScan(memory: ScanMemory, width: number, layout: RowLayout): Scan {
  if (width % WIDTH_STEP !== 0 || width < 1 || width > MOST_DIMENSIONS)
    throw new RangeError(`Rows of ${width} numbers.`)
  const key = `${width} ${layout === 'listed' ? layout : layout.apart}`
  const module = modules.get(key) ?? new WebAssembly.Module(moduleBytes(width, layout))
  modules.set(key, module)
  return new WebAssembly.Instance(module, { m: { m: memory } }).exports.scan as Scan
}

const [I32, F32, V128, FUNCTION, NOTHING] = [0x7f, 0x7d, 0x7b, 0x60, 0x40]
const [GET, SET, TEE, CONSTANT, END, LOOP, BRANCH_IF] = [0x20, 0x21, 0x22, 0x41, 0x0b, 0x03, 0x0d]
const [I32_ADD, I32_SUBTRACT, I32_SHIFT_LEFT, I32_SHIFT_RIGHT, I32_LESS, I32_STORE] = [
  0x6a, 0x6b, 0x74, 0x76, 0x49, 0x36,
]
const [I32_LOAD, F32_LOAD, F32_STORE, F32_MULTIPLY, F32_GREATER, F32_FROM_I32] = [0x28, 0x2a, 0x38, 0x94, 0x5e, 0xb2]
const vector = (code: number): number[] => [0xfd, ...unsigned(code)]
const [LOAD, ZERO, LANE] = [vector(0x00), [...vector(0x0c), ...new Array<number>(16).fill(0)], vector(0x1b)]
const [WORDS_LOW, WORDS_HIGH, DOT, ADD] = [vector(0x87), vector(0x88), vector(0xba), vector(0xae)]
// Locals: the parameters, then integers, vectors, the score, and the addresses of rows that are listed.
const [ROWS, ROWS_END, FACTORS, QUESTION, HITS, LEAST, NUMBER, AT, FIRST_HIT] = [0, 1, 2, 3, 4, 5, 6, 7, 8]
const [LOW, HIGH, ROW, FIRST_SUM] = [9, 10, 11, 12]
const SCORE = FIRST_SUM + ROW_STEP
const FIRST_ADDRESS = SCORE + 1
const ADDRESS_BYTES = 4
const STEPS = Array.from({ length: ROW_STEP }, (_, step) => step)

function moduleBytes(width: number, layout: RowLayout): Uint8Array<ArrayBuffer> {
  const locals = [4, 2, I32, 3 + ROW_STEP, V128, 1, F32, ROW_STEP, I32]
  const body = [...locals, ...program(width, layout), END]
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, FUNCTION, 7, I32, I32, I32, I32, I32, F32, I32, 1, I32]),
    ...section(2, [1, 1, 0x6d, 1, 0x6d, 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, 4, ...Buffer.from('scan'), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ])
}

/** For each four rows: their products with the question, sixteen numbers at a time, then their scores. */
function program(width: number, layout: RowLayout): number[] {
  const isListed = layout === 'listed'
  const apart = isListed ? 1 : layout.apart
  // How far a step goes on in what the scan gets, and in the factors.
  const [bytes, rows] = isListed ? [ADDRESS_BYTES * ROW_STEP, ROW_STEP] : [width, 1]
  return [
    ...[GET, HITS, SET, FIRST_HIT],
    ...[LOOP, NOTHING],
    ...(isListed ? STEPS.flatMap(readAddress) : []),
    ...STEPS.flatMap((step) => [...ZERO, SET, FIRST_SUM + step]),
    ...[CONSTANT, 0, SET, AT],
    ...[LOOP, NOTHING],
    ...[LOW, HIGH].flatMap((half, place) => [
      ...[GET, QUESTION, GET, AT, CONSTANT, 1, I32_SHIFT_LEFT, I32_ADD, ...LOAD, ...at(16 * place), SET, half],
    ]),
    ...STEPS.flatMap((step) =>
      isListed ? addProduct(step, FIRST_ADDRESS + step, 0) : addProduct(step, ROWS, width * apart * step),
    ),
    ...[GET, AT, CONSTANT, ...signed(WIDTH_STEP), I32_ADD, TEE, AT, CONSTANT, ...signed(width), I32_LESS],
    ...[BRANCH_IF, 0, END],
    ...STEPS.flatMap((step) => writeScore(step, apart * step)),
    ...[GET, FACTORS, CONSTANT, 4 * rows, I32_ADD, SET, FACTORS],
    ...[GET, NUMBER, CONSTANT, rows, I32_ADD, SET, NUMBER],
    ...[GET, ROWS, CONSTANT, ...signed(bytes), I32_ADD, TEE, ROWS, GET, ROWS_END, I32_LESS],
    ...[BRANCH_IF, 0, END],
    ...[GET, HITS, GET, FIRST_HIT, I32_SUBTRACT, CONSTANT, 3, I32_SHIFT_RIGHT],
  ]
}

function readAddress(step: number): number[] {
  return [GET, ROWS, I32_LOAD, ...at(ADDRESS_BYTES * step), SET, FIRST_ADDRESS + step]
}

function addProduct(step: number, base: number, offset: number): number[] {
  const sum = FIRST_SUM + step
  return [
    ...[GET, base, GET, AT, I32_ADD, ...LOAD, ...at(offset), SET, ROW],
    ...[GET, ROW, ...WORDS_LOW, GET, LOW, ...DOT, GET, ROW, ...WORDS_HIGH, GET, HIGH, ...DOT, ...ADD],
    ...[GET, sum, ...ADD, SET, sum],
  ]
}

/** Written in any case, and written over by the next one unless it was enough: no branch that could be guessed wrong. */
function writeScore(step: number, row: number): number[] {
  const lanes = [0, 1, 2, 3].flatMap((lane) => [GET, FIRST_SUM + step, ...LANE, lane, ...(lane > 0 ? [I32_ADD] : [])])
  return [
    ...[...lanes, F32_FROM_I32, GET, FACTORS, F32_LOAD, ...at(4 * row), F32_MULTIPLY, SET, SCORE],
    ...[GET, HITS, GET, NUMBER, CONSTANT, ...signed(row), I32_ADD, I32_STORE, ...at(0)],
    ...[GET, HITS, GET, SCORE, F32_STORE, ...at(4)],
    ...[GET, HITS, GET, SCORE, GET, LEAST, F32_GREATER, CONSTANT, 3, I32_SHIFT_LEFT, I32_ADD, SET, HITS],
  ]
}
