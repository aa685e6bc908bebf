import { sql } from 'kysely'
import type { Reader, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import type { CallbackAttemptsTable } from '../tables.ts'
import type { AttemptRecord, Settlement } from './run.ts'

/** The newest ones of a run are kept. */
export const KEPT_ATTEMPTS = 100

const NAMES = [
  'run_number',
  'attempt',
  'started_at',
  'ended_at',
  'outcome',
  'status_code',
  'error_type',
  'message',
  'response_snippet',
  'address',
] as const satisfies readonly (keyof CallbackAttemptsTable)[]
export const ATTEMPT_COLUMNS = sql.join(NAMES.map((column) => sql.ref(column)))

const insertRow = statement<CallbackAttemptsTable>(
  (_query, p) => sql`
    insert into callback_attempts (${ATTEMPT_COLUMNS}) values (${sql.join(NAMES.map((column) => sql.val(p(column))))})`,
)

const deleteOld = statement<{ runNumber: number; upTo: number }>((query, p) =>
  query.deleteFrom('callback_attempts').where('run_number', '=', p('runNumber')).where('attempt', '<=', p('upTo')),
)

export function attemptRow(runNumber: number, number: number, attempt: AttemptRecord): CallbackAttemptsTable {
  return {
    run_number: runNumber,
    attempt: number,
    started_at: attempt.startedAt,
    ended_at: attempt.endedAt,
    outcome: attempt.outcome,
    status_code: attempt.statusCode,
    error_type: attempt.errorType,
    message: attempt.message,
    response_snippet: attempt.responseSnippet,
    address: attempt.address,
  }
}

/** The log of these attempts, on SQLite. */
export async function insertAttempts(tx: Transaction, settlements: readonly Settlement[]): Promise<void> {
  const rows: CallbackAttemptsTable[] = []
  const old: { runNumber: number; upTo: number }[] = []
  for (const { run, changed, attempt } of settlements) {
    if (attempt === null) continue
    const number = changed.record.attempt
    rows.push(attemptRow(run.runNumber, number, attempt))
    if (number > KEPT_ATTEMPTS) old.push({ runNumber: run.runNumber, upTo: number - KEPT_ATTEMPTS })
  }
  if (rows.length === 0) return
  await tx.changeEach(insertRow, rows)
  await tx.changeEach(deleteOld, old)
}

const newest = statement<{ runNumber: number; before: number; limit: number }, CallbackAttemptsTable>((query, p) =>
  query
    .selectFrom('callback_attempts')
    .select(NAMES)
    .where('run_number', '=', p('runNumber'))
    .where('attempt', '<', p('before'))
    .orderBy('attempt', 'desc')
    .limit(p('limit')),
)

export type LoggedAttempt = AttemptRecord & { readonly attempt: number }

/** Newest first; `before` is the number of the last one that was shown, null at the beginning. */
export async function listAttempts(
  reader: Reader,
  runNumber: number,
  before: number | null,
  limit: number,
): Promise<LoggedAttempt[]> {
  const rows = await reader.run(newest, { runNumber, before: before ?? 2_147_483_647, limit })
  return rows.map((row) => ({
    attempt: row.attempt,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
    statusCode: row.status_code,
    errorType: row.error_type,
    message: row.message,
    responseSnippet: row.response_snippet,
    address: row.address,
  }))
}
