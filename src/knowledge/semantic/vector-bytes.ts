/// <reference lib="esnext.float16" />
// Vectors are stored with 16 bits a number: half the size, and the error of a similarity stays below a thousandth.
// NOTE In the order of this machine, which is little-endian wherever Node 24 runs.

export function encodeVector(vector: Float32Array): Uint8Array {
  return new Uint8Array(new Float16Array(vector).buffer)
}

/** The bytes of a row, in whatever buffer they lie. */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const isAligned = bytes.byteOffset % 2 === 0
  const own = isAligned ? bytes : bytes.slice()
  return new Float32Array(new Float16Array(own.buffer, own.byteOffset, own.byteLength >> 1))
}
