import { setImmediate as nextTurn } from 'node:timers/promises'

// Some milliseconds of work.
const NAMES_AT_ONCE = 2_000

/** By code units, as `sort` does. There may be very many: others have their turn meanwhile. */
export async function sortInTurns(names: Iterable<string>, atOnce = NAMES_AT_ONCE): Promise<string[]> {
  const all = [...names]
  let runs: string[][] = []
  for (let at = 0; at < all.length; at += atOnce) {
    if (at > 0) await nextTurn()
    runs.push(all.slice(at, at + atOnce).sort())
  }
  while (runs.length > 1) {
    const merged: string[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(mergedOf(runs[at] ?? [], runs[at + 1] ?? []))
      await nextTurn()
    }
    runs = merged
  }
  return runs[0] ?? []
}

function mergedOf(one: readonly string[], other: readonly string[]): string[] {
  const merged: string[] = []
  let at = 0
  for (const name of one) {
    for (let next = other[at]; next !== undefined && next < name; next = other[++at]) merged.push(next)
    merged.push(name)
  }
  for (; at < other.length; at++) merged.push(other[at] as string)
  return merged
}
