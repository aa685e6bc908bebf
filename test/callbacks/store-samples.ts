import { attributeRows } from '../../src/callbacks/query/attribute-rows.ts'
import { RUNNING_SORT_AT } from '../../src/callbacks/run/store-runs.ts'
import type { Database } from '../../src/platform/storage/database.ts'
import { ATTRIBUTES, type SampleRun } from './condition-samples.ts'
import { NAMESPACE } from './store-world.ts'
import '../../src/callbacks/tables.ts'

const STATUSES = { Running: 1, Succeeded: 2, Failed: 3, Terminated: 4 }
const STATES = { Running: 2, Succeeded: 5, Failed: 4, Terminated: 7 }

/** Puts these in the place of all runs that are there, with their attributes. */
export async function fillSamples(db: Database, samples: readonly SampleRun[]): Promise<void> {
  const runs = samples.map((sample, n) => ({
    run_number: n + 1,
    namespace_id: NAMESPACE,
    callback_id: sample.callbackId,
    run_id: sample.runId,
    request_id: '',
    destination_id: 1,
    status: STATUSES[sample.status],
    state: STATES[sample.status],
    attempt: 0,
    transition_count: Number(sample.transitionCount),
    created_at: Number(sample.createdAt),
    closed_at: sample.closedAt === null ? null : Number(sample.closedAt),
    sort_at: sample.closedAt === null ? RUNNING_SORT_AT : Number(sample.closedAt),
  }))
  const attributes = samples.flatMap((sample, n) =>
    Object.entries(sample.attributes).flatMap(([name, values]) =>
      attributeRows(name, ATTRIBUTES[name as keyof typeof ATTRIBUTES], values).map((row, place) => ({
        ...row,
        run_number: n + 1,
        place,
        // PostgreSQL's driver takes no bigint for a number with fractions.
        number_value: (db.engine === 'postgres' && row.number_value !== null
          ? String(row.number_value)
          : row.number_value) as number | bigint | null,
      })),
    ),
  )
  await db.write(async (tx) => {
    for (const table of ['callback_runs', 'callback_attributes'] as const) await tx.query.deleteFrom(table).execute()
    await tx.query
      .insertInto('callback_runs')
      .values(runs as never)
      .execute()
    if (attributes.length > 0) await tx.query.insertInto('callback_attributes').values(attributes).execute()
  })
}
