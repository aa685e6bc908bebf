/** The candidate that was probably meant, when one is close enough to say so. */
export function nearest(given: string, candidates: Iterable<string>): string | undefined {
  if (given.length > 100) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(given.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(given, candidate, least)
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** Letters to insert, remove, replace or swap with their neighbour; `limit` when it is that many or more. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = at(last, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1)
      let cost = Math.min(replaced, at(last, column) + 1, at(current, column - 1) + 1)
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      }
      current.push(cost)
    }
    ;[beforeLast, last] = [last, current]
  }
  return Math.min(limit, at(last, to.length))
}

function at(row: number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
