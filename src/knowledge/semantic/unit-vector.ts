import { storableText } from '../../platform/text/storable-text.ts'
import { TextRefused } from './provider.ts'

const LONGEST_VALUE = 40

/** Numbers of a model that is not ours, at length one. `who` begins the sentence of what is wrong with them. */
export function unitVector(numbers: ArrayLike<number>, who: string): Float32Array {
  let squares = 0
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i]
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new TextRefused(`${who} gave a vector with ${shown(value)}`)
    squares += value * value
  }
  const length = Math.sqrt(squares)
  if (length === 0) throw new TextRefused(`${who} gave a vector of zeros`)
  if (!Number.isFinite(length)) throw new TextRefused(`${who} gave a vector without a finite length`)
  return Float32Array.from(numbers, (value) => value / length)
}

/** A stranger's value may be of any length, or one that cannot even be made a text. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return 'something that is no number'
  return storableText(String(value), LONGEST_VALUE)
}
