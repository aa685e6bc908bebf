import { type Clock, settlesWithin } from '../clock/clock.ts'

// Who reads metrics gives up after ten seconds, as a rule.
const SOON_MS = 2_000

/** Undefined when storage fails or stays silent: it must not take the other metrics with it. */
export async function answeredSoon<T>(clock: Clock, question: Promise<T>): Promise<T | undefined> {
  const answer = question.catch(() => undefined)
  return (await settlesWithin(clock, SOON_MS, answer)) ? answer : undefined
}
