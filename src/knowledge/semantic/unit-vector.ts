import { TextRefused } from './provider.ts'

/** Numbers of a model that is not ours, at length one. `who` begins the sentence of what is wrong with them. */
export function unitVector(numbers: ArrayLike<number>, who: string): Float32Array {
  let squares = 0
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i]
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new TextRefused(`${who} gave a vector with ${value}`)
    squares += value * value
  }
  const length = Math.sqrt(squares)
  if (length === 0) throw new TextRefused(`${who} gave a vector of zeros`)
  if (!Number.isFinite(length)) throw new TextRefused(`${who} gave a vector without a finite length`)
  return Float32Array.from(numbers, (value) => value / length)
}
