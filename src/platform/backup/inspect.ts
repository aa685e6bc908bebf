import { sql } from 'kysely'
import type { Micros } from '../clock/clock.ts'
import type { Reader } from '../storage/database.ts'

export interface EngineState {
  version: string
  /** Settings of the server by which it says "done" before a change is on disk. */
  hasty: string[]
  /** What the database server believes the time is; null where it is this machine's anyway. */
  now: Micros | null
}

export async function inspectEngine(reader: Reader): Promise<EngineState> {
  if (reader.engine === 'sqlite') {
    const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(reader.query)
    return { version: rows[0]?.version ?? '', hasty: [], now: null }
  }
  const { rows } = await sql<EngineState>`
    select current_setting('server_version') as version,
      array(select name || ' = off' from pg_settings where name in ('fsync', 'synchronous_commit') and setting = 'off' order by name)
        as hasty,
      floor(extract(epoch from clock_timestamp()) * 1000000) as now
  `.execute(reader.query)
  return rows[0] as EngineState
}

const MOST_PROBLEMS = 5

/** What SQLite finds wrong with its own file; empty when it is whole. The full check also compares every index. */
export async function checkSqliteFile(reader: Reader, options: { full: boolean }): Promise<string[]> {
  const { rows } = options.full
    ? await sql<{
        problem: string
      }>`select integrity_check as problem from pragma_integrity_check limit ${MOST_PROBLEMS}`.execute(reader.query)
    : await sql<{
        problem: string
      }>`select quick_check as problem from pragma_quick_check limit ${MOST_PROBLEMS}`.execute(reader.query)
  return rows.map(({ problem }) => problem).filter((problem) => problem !== 'ok')
}

/** Rows that refer to a row that is not there. */
export async function findBrokenReferences(reader: Reader): Promise<string[]> {
  const { rows } = await sql<{ table: string; parent: string }>`
    select distinct "table", parent from pragma_foreign_key_check limit ${MOST_PROBLEMS}`.execute(reader.query)
  return rows.map(({ table, parent }) => `${table} refers to missing rows of ${parent}`)
}

/** The newest time the database has recorded; a clock that is behind it went back. */
export async function newestRecord(reader: Reader): Promise<Micros> {
  const { rows } = await sql<{ at: number | null }>`select max(at) as at from audit_events`.execute(reader.query)
  return rows[0]?.at ?? 0
}
