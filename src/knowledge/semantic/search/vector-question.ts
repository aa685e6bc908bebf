import type { VectorsKey } from './store-vector-source.ts'

export interface VectorQuestion extends VectorsKey {
  /** Of length one. */
  vector: Float32Array
  k: number
}

/** Throws when nobody waits for the answer any longer. Asked every millisecond or so. */
export type MayGoOn = () => void
