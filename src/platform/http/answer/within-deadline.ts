import type { Clock } from '../../clock/clock.ts'
import { AppError } from '../../errors/app-error.ts'

/** The answer, or DEADLINE_EXCEEDED when it takes longer. What was begun goes on: it may have had its effect. */
export async function withinDeadline<T>(clock: Clock, ms: number, work: () => Promise<T>): Promise<T> {
  if (ms <= 0) throw tooLate()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const cancel = clock.after(ms, () => reject(tooLate()))
  return Promise.race([work(), late]).finally(cancel)
}

function tooLate(): AppError {
  return new AppError('deadline_exceeded', 'The work was not done within the time that the caller gave it')
}
