import { setImmediate } from 'node:timers/promises'
import { create, type MessageInitShape } from '@bufbuild/protobuf'
import type { NamespaceId } from '../../src/callbacks/namespace/namespace.ts'
import type { ActiveNamespace } from '../../src/callbacks/namespace/namespace-policies.ts'
import { type CallbackRuntime, createRuntime } from '../../src/callbacks/run/runtime.ts'
import type { FoundRun } from '../../src/callbacks/run/store-runs.ts'
import { findRun } from '../../src/callbacks/run/store-runs.ts'
import type { RunRecord } from '../../src/callbacks/state/run-record.ts'
import type { FailureSchema } from '../../src/gen/temporal/api/failure/v1/message_pb.js'
import { StartCallbackExecutionRequestSchema } from '../../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { JobEngine } from '../../src/platform/jobs/job-engine.ts'
import type { Logger } from '../../src/platform/logging/logger.ts'
import type { SharedMemory } from '../../src/platform/memory/shared-memory.ts'
import type { Outbound } from '../../src/platform/outbound/outbound-request.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { WorkerStop } from '../../src/platform/supervisor/supervisor.ts'
import { createMetrics } from '../../src/platform/telemetry/metrics.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { anotherProcess, type NamespaceWorld, namespaceWorld } from './namespace-world.ts'

/** Receivers of the tests are on this machine and speak plain HTTP. */
const LOCAL = `
callbacks:
  allowed_addresses: [{ pattern: '*', allow_insecure: true }]
  allowed_private_cidrs: ['127.0.0.0/8']
`

// Real time: longer than anything in a test takes.
const PATIENCE_MS = 30_000

export interface StartOptions {
  requestId?: string
  timeoutSeconds?: number
  delaySeconds?: number
  maximumAttempts?: number
  data?: string
  /** Delivered instead of a success. */
  failure?: MessageInitShape<typeof FailureSchema>
  header?: Record<string, string>
  /** As a process remembers it; by default "default" as it is. */
  namespace?: ActiveNamespace | undefined
}

export interface WorldParts {
  log?: Logger
  inputMemory?: SharedMemory<number>
  outbound?: Outbound
}

/** A process that delivers, over a real database, with a clock that is driven. */
export class DeliveryWorld implements AsyncDisposable {
  readonly namespace: NamespaceWorld
  readonly runtime: CallbackRuntime
  readonly #namespaceId: NamespaceId
  readonly #stop = new AbortController()
  #running: Promise<void> | null = null

  static async open(db: Database, yaml = ''): Promise<DeliveryWorld> {
    return DeliveryWorld.over(await namespaceWorld(db, LOCAL + yaml))
  }

  /** Another process over the same data. */
  async another(db: Database): Promise<DeliveryWorld> {
    return DeliveryWorld.over(await anotherProcess(this.namespace, db))
  }

  static async over(namespace: NamespaceWorld, parts: WorldParts = {}): Promise<DeliveryWorld> {
    return new DeliveryWorld(namespace, (await defaultNamespace(namespace)).id, parts)
  }

  constructor(
    namespace: NamespaceWorld,
    namespaceId: NamespaceId,
    { log = silentLogger(), inputMemory, outbound }: WorldParts = {},
  ) {
    this.namespace = namespace
    this.#namespaceId = namespaceId
    const { db, clock, settings, cipher, policies } = namespace
    const jobs = new JobEngine({ db, clock, log })
    this.runtime = createRuntime({
      db,
      clock,
      log,
      settings,
      jobs,
      cipher,
      metrics: createMetrics({ process: false }),
      namespaces: policies,
      ...(inputMemory && { inputMemory }),
      ...(outbound && { outbound }),
    })
  }

  get db(): Database {
    return this.namespace.db
  }

  run(): void {
    this.#running = this.runtime.dispatcher.run(this.#stop.signal)
  }

  async stop(graceMs = PATIENCE_MS): Promise<void> {
    this.#stop.abort(new WorkerStop(graceMs))
    await this.#running
  }

  async start(callbackId: string, url: string, options: StartOptions = {}): Promise<string> {
    const namespace = options.namespace ?? (await defaultNamespace(this.namespace))
    const { runId } = await this.runtime.starts.start(
      create(StartCallbackExecutionRequestSchema, {
        namespace: namespace.name,
        identity: 'test',
        callbackId,
        requestId: options.requestId ?? '',
        callback: { variant: { case: 'nexus', value: { url, header: options.header ?? {}, token: 't-1' } } },
        ...(options.timeoutSeconds !== undefined && { scheduleToCloseTimeout: seconds(options.timeoutSeconds) }),
        ...(options.delaySeconds !== undefined && { startDelay: seconds(options.delaySeconds) }),
        ...(options.maximumAttempts !== undefined && { retryPolicy: { maximumAttempts: options.maximumAttempts } }),
        input: {
          case: 'completion',
          value: {
            result: options.failure
              ? { case: 'failure', value: options.failure }
              : {
                  case: 'success',
                  value: { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(options.data ?? '{}') },
                },
          },
        },
      }),
      { rules: namespace, namespace: () => namespace },
    )
    return runId
  }

  async find(callbackId: string): Promise<FoundRun> {
    const run = await findRun(this.db, this.#namespaceId, callbackId, null)
    if (run === undefined) throw new Error(`there is no run of ${callbackId}`)
    return run
  }

  /** The record as soon as it is so, whichever process made it so. */
  async until(callbackId: string, isSo: (record: RunRecord) => boolean): Promise<RunRecord> {
    for (;;) {
      const run = await this.find(callbackId)
      if (isSo(run.record)) return run.record
      if (this.db.engine === 'postgres') {
        // The watch looks for what other processes did when time passes, and here it may stand still.
        await setImmediate()
        continue
      }
      const changed = this.runtime.watch.changed(run.runNumber, run.record.transitionCount, PATIENCE_MS)
      // It may have changed before the watch began.
      const now = await this.find(callbackId)
      if (now.record.transitionCount === run.record.transitionCount) await changed
    }
  }

  /** The same while time passes: on PostgreSQL timers are set anew after each look at the database. */
  async passUntil(callbackId: string, isSo: (record: RunRecord) => boolean): Promise<RunRecord> {
    for (;;) {
      const { record } = await this.find(callbackId)
      if (isSo(record)) return record
      await this.namespace.clock.advance(500)
      await setImmediate()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // What is in flight is broken off: the clock stands still.
    await Promise.all([this.stop(0), this.runtime[Symbol.asyncDispose]()])
    this.namespace.policies.close()
  }
}

async function defaultNamespace({ policies }: NamespaceWorld): Promise<ActiveNamespace> {
  const found = await policies.find('default')
  if (found === null) throw new Error('there is no namespace "default"')
  return found
}

function seconds(count: number) {
  return { seconds: BigInt(Math.trunc(count)), nanos: Math.round((count % 1) * 1e9) }
}
