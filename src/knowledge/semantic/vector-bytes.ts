/// <reference lib="esnext.float16" />
// Vectors are stored with 16 bits a number: half the size, and the error of a similarity stays below a thousandth.
// NOTE In the order of this machine, which is little-endian wherever Node 24 runs.

export function encodeVector(vector: Float32Array): Uint8Array {
  return new Uint8Array(new Float16Array(vector).buffer)
}
