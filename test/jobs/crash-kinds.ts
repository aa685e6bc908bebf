import { jobKind } from '../../src/platform/jobs/job-kind.ts'

/** Its effect and its end are one transaction. */
export const EXACT = jobKind<number>('exact', { maxAttempts: 1_000, concurrency: 4 })
/** Its effect is a transaction of its own. */
export const LOOSE = jobKind<number>('loose', { maxAttempts: 1_000, concurrency: 4 })
