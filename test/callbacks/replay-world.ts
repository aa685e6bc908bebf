import { create } from '@bufbuild/protobuf'
import type { Call } from '../../src/callbacks/call.ts'
import { NamespaceGate } from '../../src/callbacks/namespace/namespace-gate.ts'
import { registerBulkReplay } from '../../src/callbacks/replay/bulk-replay.ts'
import { ReplayService } from '../../src/callbacks/replay/replay-service.ts'
import {
  DescribeBulkReplayRequestSchema,
  type DescribeBulkReplayResponse,
  StartBulkReplayRequestSchema,
} from '../../src/gen/commonplace/callbacks/v1/callbacks_pb.js'
import { JobEngine } from '../../src/platform/jobs/job-engine.ts'
import { RateLimiter } from '../../src/platform/rate-limit/rate-limiter.ts'
import { silentLogger } from '../support/silent-logger.ts'
import type { DeliveryWorld } from './delivery-world.ts'

/** Replays over a process that delivers, with jobs that run when they are told to. */
export class ReplayWorld implements AsyncDisposable {
  readonly world: DeliveryWorld
  readonly jobs: JobEngine
  readonly replays: ReplayService
  readonly #call: Call

  constructor(world: DeliveryWorld) {
    this.world = world
    const { db, clock, cipher, policies, operator: principal } = world.namespace
    const log = silentLogger()
    this.jobs = new JobEngine({ db, clock, log })
    const { starts } = world.runtime
    registerBulkReplay(this.jobs, { db, clock, cipher, namespaces: policies, starts })
    const gate = new NamespaceGate({
      clock,
      namespaces: policies,
      rateLimiter: new RateLimiter({ buckets: {}, clock, log }),
    })
    this.replays = new ReplayService({ db, clock, cipher, jobs: this.jobs, gate, starts })
    this.#call = {
      principal,
      signal: new AbortController().signal,
      closed: new AbortController().signal,
      deadlineMs: null,
      refuseUnlessStillAllowed: async () => undefined,
    }
  }

  async start(query = '', namespace = 'default'): Promise<string> {
    const request = create(StartBulkReplayRequestSchema, { namespace, query })
    return (await this.replays.startBulk(request, this.#call)).jobId
  }

  async progress(jobId: string): Promise<Omit<DescribeBulkReplayResponse, `$${string}`>> {
    const request = create(DescribeBulkReplayRequestSchema, { namespace: 'default', jobId })
    const { $typeName: _, ...progress } = await this.replays.describeBulk(request, this.#call)
    return progress
  }

  /** One batch. */
  async step(): Promise<void> {
    await this.jobs.tick()
    await this.jobs.whenIdle()
  }

  /** The look that is due by then. */
  async later(seconds: number): Promise<void> {
    await this.world.namespace.clock.advance(seconds * 1_000)
    await this.step()
  }

  /** Numbers of the runs that wait for others. */
  async waiting(): Promise<number[]> {
    const rows = await this.world.db.query.selectFrom('callback_waiting_replays').select('run_number').execute()
    return rows.map((row) => row.run_number)
  }

  async finish(jobId: string): Promise<Omit<DescribeBulkReplayResponse, `$${string}`>> {
    for (;;) {
      const progress = await this.progress(jobId)
      if (progress.done) return progress
      await this.step()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.jobs.stop()
  }
}
