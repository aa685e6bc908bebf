import type { Place, UserOrder } from './store-user-list.ts'

/** The order in which the database lists them. */
export function comparePlaces({ descending }: UserOrder): (a: Place, b: Place) => number {
  const sign = descending ? -1 : 1
  return (a, b) => {
    for (let index = 0; index < a.length; index++) {
      const order = compareValues(a[index] as string | number, b[index] as string | number)
      if (order !== 0) return sign * order
    }
    return 0
  }
}

// By code points, as the databases do; JavaScript compares halves of surrogate pairs.
function compareValues(a: string | number, b: string | number): number {
  if (a === b) return 0
  if (typeof a === 'number' || typeof b === 'number') return a < b ? -1 : 1
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const [x, y] = [a.charCodeAt(index), b.charCodeAt(index)]
    if (x === y) continue
    // A surrogate stands for a character above all others.
    const [isHighX, isHighY] = [(x & 0xf800) === 0xd800, (y & 0xf800) === 0xd800]
    return isHighX === isHighY ? x - y : isHighX ? 1 : -1
  }
  return a.length - b.length
}
