import type { Join } from '../../src/platform/jobs/job-kind.ts'

export interface ModelJob {
  id: string
  kind: string
  key: string | null
  payload: number
  state: 'waiting' | 'running' | 'dead'
  due: number
  attempt: number
}

/** The rules of the queue in their plainest form: a list, and what each transition does to it. */
export class QueueModel {
  jobs: ModelJob[] = []
  readonly #joins: Record<string, Join>

  constructor(joins: Record<string, Join>) {
    this.#joins = joins
  }

  waitingOf(kind: string, key: string | null): ModelJob | undefined {
    return key === null
      ? undefined
      : this.jobs.find((job) => job.state === 'waiting' && job.kind === kind && job.key === key)
  }

  enqueue(job: Omit<ModelJob, 'state' | 'attempt'>): void {
    this.#enter({ ...job, state: 'waiting', attempt: 0 }, this.#joins[job.kind] === 'latest')
  }

  claim(kind: string, limit: number, now: number): string[] {
    const runs = (job: ModelJob) =>
      this.jobs.some(
        (other) => other.state === 'running' && other.kind === kind && other.key === job.key && job.key !== null,
      )
    const claimed = this.jobs
      .filter((job) => job.kind === kind && job.state === 'waiting' && job.due <= now && !runs(job))
      .sort((a, b) => a.due - b.due || (a.id < b.id ? -1 : 1))
      .slice(0, limit)
    for (const job of claimed) {
      job.state = 'running'
      job.attempt++
    }
    return claimed.map((job) => job.id)
  }

  remove(id: string): ModelJob {
    const job = this.jobs.find((one) => one.id === id) as ModelJob
    this.jobs = this.jobs.filter((one) => one !== job)
    return job
  }

  bury(id: string): void {
    const job = this.jobs.find((one) => one.id === id)
    if (job) job.state = 'dead'
  }

  /** Back from running: it is the older request when it meets a waiting one. */
  giveBack(id: string, change: Partial<ModelJob>): void {
    const job = this.remove(id)
    this.#enter({ ...job, ...change, state: 'waiting' }, this.#joins[job.kind] === 'keep')
  }

  requeue(id: string, now: number): void {
    this.#enter({ ...this.remove(id), state: 'waiting', attempt: 0, due: now }, false)
  }

  #enter(job: ModelJob, winsJoin: boolean): void {
    const met = this.waitingOf(job.kind, job.key)
    if (met === undefined) {
      this.jobs.push(job)
      return
    }
    met.due = Math.min(met.due, job.due)
    if (winsJoin) Object.assign(met, { payload: job.payload, attempt: job.attempt })
  }
}
