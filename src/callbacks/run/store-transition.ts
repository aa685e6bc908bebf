import { sql } from 'kysely'
import type { Database, Transaction } from '../../platform/storage/database.ts'
import { statement } from '../../platform/storage/statement.ts'
import { noteAttempts } from '../destination/store-destinations.ts'
import type { Changed } from '../state/run-event.ts'
import type { CallbackFailuresTable } from '../tables.ts'
import { type ChangedRow, changedRow } from './changed-row.ts'
import type { Settlement, StoredRun } from './run.ts'
import { insertAttempts } from './store-attempts.ts'
import { changeAtOnce, givenRows } from './store-transition-at-once.ts'

/** Whether it won: nobody changed the run since it was read. Who has leased the run loses it, unless it must not be leased. */
export async function storeTransition(
  tx: Transaction,
  run: StoredRun,
  changed: Changed,
  { dueAt, ...also }: Pick<Settlement, 'dueAt' | 'unleasedAt'>,
): Promise<boolean> {
  const won = await storeTransitions(tx, [{ run, changed, dueAt, leaseOwner: null, attempt: null, ...also }])
  return won.size === 1
}

/**
 * Stores many at once, each for itself, with the log of attempts and what the destinations are known for. Answers the
 * numbers of the runs that won. A run stands there once. On PostgreSQL `read committed` is enough.
 */
export async function storeTransitions(
  tx: Transaction,
  settlements: readonly Settlement[],
): Promise<Set<StoredRun['runNumber']>> {
  if (settlements.length === 0) return new Set()
  if (tx.engine === 'postgres') return numbersOf(await tx.run(changeAtOnce, { rows: givenRows(settlements) }))
  const won = await changeRows(tx, settlements)
  const winners =
    won.size === settlements.length ? settlements : settlements.filter(({ run }) => won.has(run.runNumber))
  await storeFailures(tx, winners)
  await insertAttempts(tx, winners)
  await noteAttempts(tx, winners)
  return won
}

/**
 * The same as a write of its own: on PostgreSQL one round trip. `onWon` hears who won as soon as everybody sees them so. On SQLite that
 * may be so though the write fails, because the disk did not confirm it: whoever writes the same again finds that they have changed.
 */
export async function writeTransitions(
  db: Database,
  settlements: readonly Settlement[],
  onWon: (won: ReadonlySet<StoredRun['runNumber']>) => void,
): Promise<ReadonlySet<StoredRun['runNumber']>> {
  if (db.engine === 'sqlite') {
    return db.write(async (tx) => {
      const won = await storeTransitions(tx, settlements)
      tx.afterCommit(() => onWon(won))
      return won
    })
  }
  const won = numbersOf(await db.writeOne(changeAtOnce, { rows: givenRows(settlements) }))
  onWon(won)
  return won
}

function numbersOf(rows: readonly { run_number: number }[]): Set<number> {
  return new Set(rows.map(({ run_number }) => run_number))
}

// Two statements, because SQLite writes an index anew when one of its columns is set, also to what it was.
const moveRow = statement<ChangedRow>(
  (_query, p) => sql`
    update callback_runs set
      state = ${p('state')}, attempt = ${p('attempt')}, transition_count = ${p('transition_count')},
      next_attempt_at = ${p('next_attempt_at')}, last_attempt_completed_at = ${p('last_attempt_completed_at')},
      due_at = ${p('due_at')}
    where run_number = ${p('run_number')} and transition_count = ${p('expected_count')}`,
)

const closeRow = statement<ChangedRow>(
  (_query, p) => sql`
    update callback_runs set
      status = ${p('status')}, state = ${p('state')}, attempt = ${p('attempt')},
      transition_count = ${p('transition_count')}, next_attempt_at = null,
      last_attempt_completed_at = ${p('last_attempt_completed_at')}, closed_at = ${p('closed_at')},
      terminate_request_id = ${p('terminate_request_id')}, due_at = null, sort_at = ${p('closed_at')}
    where run_number = ${p('run_number')} and transition_count = ${p('expected_count')}`,
)

async function changeRows(tx: Transaction, settlements: readonly Settlement[]): Promise<Set<number>> {
  const won = new Set<number>()
  const rows = settlements.map(changedRow)
  const closed = rows.filter(({ closed_at }) => closed_at !== null)
  const moved = closed.length === rows.length ? [] : rows.filter(({ closed_at }) => closed_at === null)
  for (const [statement, some] of [
    [closeRow, closed],
    [moveRow, moved],
  ] as const) {
    const counts = await tx.changeCounts(statement, some)
    for (const [at, { run_number }] of some.entries()) if (counts[at] === 1) won.add(run_number)
  }
  return won
}

const upsertFailure = statement<CallbackFailuresTable>(
  (_query, p) => sql`
    insert into callback_failures (run_number, last_attempt, terminal)
    values (${p('run_number')}, ${p('last_attempt')}, ${p('terminal')})
    on conflict (run_number) do update set
      last_attempt = coalesce(excluded.last_attempt, callback_failures.last_attempt),
      terminal = coalesce(excluded.terminal, callback_failures.terminal)`,
)

async function storeFailures(tx: Transaction, settlements: readonly Settlement[]): Promise<void> {
  const rows: CallbackFailuresTable[] = []
  for (const { run, changed } of settlements) {
    const { lastAttempt, terminal } = changed.failures
    if (lastAttempt === undefined && terminal === undefined) continue
    rows.push({ run_number: run.runNumber, last_attempt: toJson(lastAttempt), terminal: toJson(terminal) })
  }
  await tx.changeEach(upsertFailure, rows)
}

function toJson(failure: object | undefined): string | null {
  return failure === undefined ? null : JSON.stringify(failure)
}
