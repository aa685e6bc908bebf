/** Many callbacks through the part that the API calls, without HTTP: the data directory of a server that is not running. */
import { create } from '@bufbuild/protobuf'
import { sql } from 'kysely'
import { createRuntime, NamespacePolicies } from '../src/callbacks/index.ts'
import { StartCallbackExecutionRequestSchema } from '../src/gen/temporal/api/workflowservice/v1/request_response_pb.js'
import { SystemClock } from '../src/platform/clock/clock.ts'
import { JobEngine } from '../src/platform/jobs/job-engine.ts'
import { createLogger } from '../src/platform/logging/logger.ts'
import { openCipher } from '../src/platform/secrets/open-cipher.ts'
import type { Database } from '../src/platform/storage/database.ts'
import { openDatabase } from '../src/platform/storage/open.ts'
import { createMetrics } from '../src/platform/telemetry/metrics.ts'
import { loadSettings } from '../src/settings.ts'

const AT_ONCE = 256
/** Receivers of benchmarks are on this machine. */
export const LOCAL = {
  COMMONPLACE_CALLBACKS__ALLOWED_ADDRESSES: '[{"pattern": "*", "allow_insecure": true}]',
  COMMONPLACE_CALLBACKS__ALLOWED_PRIVATE_CIDRS: '["127.0.0.0/8"]',
}

export function callbackData(number: number): string {
  return JSON.stringify({ order: number, paid: true, text: 'x'.repeat(160) })
}

export interface FillOptions {
  databaseUrl?: string | null
  /** Backing off for hours instead of being due. */
  isWaiting?: boolean
}

export async function fillCallbacks(
  dataDir: string,
  count: number,
  url: string,
  { databaseUrl = null, isWaiting = false }: FillOptions = {},
): Promise<void> {
  const clock = new SystemClock()
  const log = createLogger({ level: 'error', format: 'json' })
  const db = await openDatabase({ dataDir, databaseUrl, clock, log })
  const { settings } = await loadSettings({ mode: 'cli', env: LOCAL, cwd: dataDir })
  const cipher = await openCipher({ db, clock, encryptionKey: null })
  const namespaces = new NamespacePolicies({ db, clock, cipher, settings: settings.callbacks })
  const jobs = new JobEngine({ db, clock, log })
  const metrics = createMetrics({ process: false })
  const runtime = createRuntime({ db, clock, log, cipher, jobs, metrics, namespaces, settings: settings.callbacks })
  const namespace = await namespaces.find('default')
  if (namespace === null) throw new Error('there is no namespace "default"')
  const entered = { rules: namespace, namespace: () => namespace }
  // One process may fill a directory twice.
  fills++
  let next = 0
  async function work(): Promise<void> {
    while (next < count) await runtime.starts.start(startOf(next++, url), entered)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  if (isWaiting) await putOff(db, clock.now())
  await runtime[Symbol.asyncDispose]()
  namespaces.close()
  await db.close()
}

let fills = 0

function startOf(number: number, url: string) {
  return create(StartCallbackExecutionRequestSchema, {
    namespace: 'default',
    identity: 'bench',
    callbackId: `callback-${process.pid}-${fills}-${number}`,
    callback: { variant: { case: 'nexus', value: { url, header: {}, token: 'token-0123456789' } } },
    input: {
      case: 'completion',
      value: {
        result: {
          case: 'success',
          value: { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(callbackData(number)) },
        },
      },
    },
  })
}

/** As after a failed attempt: they back off until some time between an hour and a day from now. */
async function putOff(db: Database, now: number): Promise<void> {
  const hour = 3_600_000_000
  await db.write(
    (tx) =>
      sql`
        update callback_runs set state = 3, attempt = 1, transition_count = 2, last_attempt_completed_at = ${now},
          next_attempt_at = ${now} + ${hour} + (run_number % 82800) * 1000000,
          due_at = ${now} + ${hour} + (run_number % 82800) * 1000000
        where state = 2`.execute(tx.query),
    { alone: true },
  )
}
