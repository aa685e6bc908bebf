// What a handler throws to say how it failed, and what it finds as the reason when its signal aborts.

/** Thrown by a handler: trying again would not help, the job is dead at once. */
export class PermanentFailure extends Error {
  override name = 'PermanentFailure'
}

const LONGEST_DELAY_MS = 365 * 86_400_000

/** Thrown by a handler that knows when the next try makes sense. Counts as an attempt. */
export class RetryLater extends Error {
  override name = 'RetryLater'
  readonly delayMs: number

  constructor(message: string, delayMs: number, options?: ErrorOptions) {
    super(message, options)
    // A remote server may have chosen the number.
    this.delayMs = Number.isNaN(delayMs) ? 0 : Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS)
  }
}

/** Another process owns the job now: whatever this one still does for it must not be recorded. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'

  constructor(jobId: string) {
    super(`The lease of job ${jobId} was lost; another process runs it`)
  }
}

/** Reason of the abort when a job ran longer than its kind allows. */
export class TimedOut extends Error {
  override name = 'TimedOut'

  constructor(timeoutMs: number) {
    super(`The job ran longer than ${timeoutMs} ms`)
  }
}

/** Reason of the abort while the process shuts down: the job goes back untouched. */
export class ShuttingDown extends Error {
  override name = 'ShuttingDown'

  constructor() {
    super('The process shuts down')
  }
}
