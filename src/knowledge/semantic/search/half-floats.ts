/// <reference lib="esnext.float16" />

const halves = new Uint16Array(65_536)
for (let bits = 0; bits < halves.length; bits++) halves[bits] = bits

/** By its bits, the value of a 16-bit floating point number: twice as fast as asking for one after the other. */
export const HALF_VALUES = new Float32Array(new Float16Array(halves.buffer))
/** The bits of an absolute value from here on are no number, or not a finite one. */
export const FIRST_INFINITE = 0x7c00

/** The bits of a stored vector; null when it does not have these dimensions. */
export function halvesOf(bytes: Uint8Array, dimensions: number): Uint16Array | null {
  if (bytes.byteLength !== 2 * dimensions) return null
  const own = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice()
  return new Uint16Array(own.buffer, own.byteOffset, dimensions)
}

/** The cosine of a vector of length one with a stored one: 0 where that has no direction, NaN where it is none. */
export function cosine(question: Float32Array, halves: Uint16Array): number {
  let [product, squares] = [0, 0]
  for (let i = 0; i < halves.length; i++) {
    const value = HALF_VALUES[halves[i] as number] as number
    product += value * (question[i] as number)
    squares += value * value
  }
  return squares === 0 ? 0 : product / Math.sqrt(squares)
}
