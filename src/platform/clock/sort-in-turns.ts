import { setImmediate as nextTurn } from 'node:timers/promises'

type Compare<T> = (a: T, b: T) => number

// Some milliseconds of work.
const ITEMS_AT_ONCE = 2_000

/** As `sort` does. There may be very many: others have their turn meanwhile. */
export async function sortInTurns<T>(
  items: Iterable<T>,
  compare: Compare<T>,
  atOnce: number = ITEMS_AT_ONCE,
): Promise<T[]> {
  const all = [...items]
  let runs: T[][] = []
  for (let at = 0; at < all.length; at += atOnce) {
    if (at > 0) await nextTurn()
    runs.push(all.slice(at, at + atOnce).sort(compare))
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(await mergedOf(runs[at] ?? [], runs[at + 1] ?? [], compare, atOnce))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function mergedOf<T>(one: readonly T[], other: readonly T[], compare: Compare<T>, atOnce: number): Promise<T[]> {
  const merged: T[] = []
  for (let [at, next] = [0, 0]; at + next < one.length + other.length; ) {
    if (merged.length % atOnce === 0) await nextTurn()
    const isOther = at === one.length || (next < other.length && compare(other[next] as T, one[at] as T) < 0)
    merged.push((isOther ? other[next++] : one[at++]) as T)
  }
  return merged
}
