import type { Micros } from '../../platform/clock/clock.ts'
import { attemptOutcome } from '../destination/answer/verdict.ts'
import type { Delivery } from '../destination/send/delivery.ts'
import type { AttemptRecord } from './run.ts'

export function attemptRecord(
  { verdict, statusCode, snippet, address }: Delivery,
  startedAt: Micros,
  endedAt: Micros,
): AttemptRecord {
  const { errorType, message } = verdict
  const outcome = attemptOutcome(verdict)
  return { startedAt, endedAt, outcome, statusCode, errorType, message, responseSnippet: snippet, address }
}
