import { sql } from 'kysely'
import type { Reader } from '../storage/database.ts'
import type { JobKind } from './job-kind.ts'

export interface OpenJob<Payload> {
  state: 'waiting' | 'running'
  payload: Payload
}

/** The job of a key that runs or waits. */
export async function findOpenJob<Payload>(
  reader: Reader,
  kind: JobKind<Payload>,
  key: string,
): Promise<OpenJob<Payload> | undefined> {
  for (const state of ['running', 'waiting'] as const) {
    const job = await reader.query
      .selectFrom('jobs')
      .select('payload')
      // Literal, because the indexes of jobs are those of one state each.
      .where('state', '=', sql.lit(state))
      .where('kind', '=', kind.name)
      .where('coalesce_key', '=', key)
      .executeTakeFirst()
    if (job !== undefined) return { state, payload: JSON.parse(job.payload) as Payload }
  }
  return undefined
}
