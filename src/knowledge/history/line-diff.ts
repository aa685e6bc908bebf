import type { Steps } from '../text/steps.ts'

/** Lines of the old text from `oldStart` were replaced by lines of the new one from `newStart`; both ends exclusive. */
export interface LineChange {
  oldStart: number
  oldEnd: number
  newStart: number
  newEnd: number
}

// Texts that differ more than this are shown as replaced: nobody reads so many differences, and each costs time.
const MAX_DIFFERENCES = 1_000
const MAX_STEPS = 5_000_000

/** Lines with their line ends, so that a missing one at the end is a difference. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? []
}

/** The changed ranges in their order: a shortest edit (Myers' greedy algorithm) as long as that takes bounded work. */
export function* diffLines(before: readonly string[], after: readonly string[]): Steps<LineChange[]> {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const numbers = new Map<string, number>()
  const old = yield* numbering(before.slice(head, before.length - tail), numbers)
  const now = yield* numbering(after.slice(head, after.length - tail), numbers)
  if (old.length === 0 && now.length === 0) return []
  const changes = shortestEdit(old, now) ?? [{ oldStart: 0, oldEnd: old.length, newStart: 0, newEnd: now.length }]
  return changes.map(({ oldStart, oldEnd, newStart, newEnd }) => ({
    oldStart: oldStart + head,
    oldEnd: oldEnd + head,
    newStart: newStart + head,
    newEnd: newEnd + head,
  }))
}

/** Equal lines get equal numbers: comparing those is cheap. */
function* numbering(lines: readonly string[], numbers: Map<string, number>): Steps<Int32Array> {
  const numbered = new Int32Array(lines.length)
  for (const [at, line] of lines.entries()) {
    const known = numbers.get(line)
    if (known === undefined) numbers.set(line, numbers.size)
    numbered[at] = known ?? numbers.size - 1
    yield
  }
  return numbered
}

/** Null when the texts are too different. */
function shortestEdit(old: Int32Array, now: Int32Array): LineChange[] | null {
  const most = Math.min(MAX_DIFFERENCES, old.length + now.length)
  // How far the best path on each diagonal got; a copy of it per number of differences leads back.
  const reach = new Int32Array(2 * most + 3)
  const middle = most + 1
  const trail: Int32Array[] = []
  let steps = 0
  for (let differences = 0; differences <= most; differences++) {
    trail.push(reach.slice(middle - differences - 1, middle + differences + 2))
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      const at = middle + diagonal
      const down =
        diagonal === -differences || (diagonal !== differences && reachAt(reach, at - 1) < reachAt(reach, at + 1))
      let x = down ? reachAt(reach, at + 1) : reachAt(reach, at - 1) + 1
      let y = x - diagonal
      const from = x
      while (x < old.length && y < now.length && old[x] === now[y]) {
        x++
        y++
      }
      steps += 1 + x - from
      reach[at] = x
      if (x >= old.length && y >= now.length) return changesAlong(trail, old.length, now.length)
    }
    if (steps > MAX_STEPS) return null
  }
  return null
}

function changesAlong(trail: readonly Int32Array[], oldLength: number, newLength: number): LineChange[] {
  const changes: LineChange[] = []
  let x = oldLength
  let y = newLength
  for (let differences = trail.length - 1; differences > 0; differences--) {
    const reach = trail[differences] as Int32Array
    // The copy begins one diagonal below the lowest one.
    const middle = differences + 1
    const diagonal = x - y
    const at = middle + diagonal
    const down =
      diagonal === -differences || (diagonal !== differences && reachAt(reach, at - 1) < reachAt(reach, at + 1))
    const previous = diagonal + (down ? 1 : -1)
    const fromX = reachAt(reach, middle + previous)
    const fromY = fromX - previous
    const change = {
      oldStart: fromX,
      oldEnd: down ? fromX : fromX + 1,
      newStart: fromY,
      newEnd: down ? fromY + 1 : fromY,
    }
    join(changes, change)
    x = fromX
    y = fromY
  }
  return changes.reverse()
}

/** Neighbours become one change; they come last first. */
function join(changes: LineChange[], change: LineChange): void {
  const last = changes.at(-1)
  if (last !== undefined && last.oldStart === change.oldEnd && last.newStart === change.newEnd) {
    last.oldStart = change.oldStart
    last.newStart = change.newStart
  } else {
    changes.push(change)
  }
}

function reachAt(reach: Int32Array, index: number): number {
  return reach[index] as number
}
