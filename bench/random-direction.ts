/** A vector of length one. */
export function randomDirection(dimensions: number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => Math.random() + Math.random() - 1)
  let squares = 0
  for (const value of vector) squares += value * value
  return vector.map((value) => value / Math.sqrt(squares))
}
