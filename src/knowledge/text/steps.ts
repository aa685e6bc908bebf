import { setImmediate as nextTurn } from 'node:timers/promises'

/** Work that may be left alone wherever it yields. */
export type Steps<T> = Generator<undefined, T, undefined>

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

// At most a few milliseconds of what the steps are made of.
const STEPS_AT_ONCE = 1_000

/** Others have their turn every now and then; `breathe` gives it to them. */
export async function inTurns<T>(steps: Steps<T>, breathe: () => Promise<unknown> = () => nextTurn()): Promise<T> {
  for (let taken = 1; ; taken++) {
    const step = steps.next()
    if (step.done) return step.value
    if (taken % STEPS_AT_ONCE === 0) await breathe()
  }
}

/** To be awaited after each piece of work, with how much that was: whenever it comes to so much, others have their turn. */
export function turnAfter(much: number): (done: number) => Promise<unknown> | undefined {
  let since = 0
  return (done) => {
    since += done
    if (since < much) return undefined
    since = 0
    return nextTurn()
  }
}
