/** Works the queue of the database it is given until it is killed. Writes a dot when a job begins, `!` when none is left. */
import { sql } from 'kysely'
import { SystemClock } from '../../src/platform/clock/clock.ts'
import { JobEngine } from '../../src/platform/jobs/job-engine.ts'
import type { JobHandler } from '../../src/platform/jobs/job-kind.ts'
import { openDatabase } from '../../src/platform/storage/open.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { EXACT, LOOSE } from './crash-kinds.ts'

const place = JSON.parse(process.argv[2] as string)
const clock = new SystemClock()
const log = silentLogger()
const db = await openDatabase({ ...place, clock, log })
const engine = new JobEngine({
  db,
  clock,
  log,
  leaseMs: 400,
  pollMs: 50,
  alone: db.engine === 'sqlite',
  onOutcome: () => void reportEmpty(),
})

const exact: JobHandler<number> = async ({ payload }, { complete }) => {
  process.stdout.write('.')
  await db.write(async (tx) => {
    await sql`insert into effects (kind, payload) values ('exact', ${payload})`.execute(tx.query)
    await complete(tx)
  })
}

const loose: JobHandler<number> = async ({ payload }) => {
  process.stdout.write('.')
  await db.write(async (tx) => {
    await sql`insert into effects (kind, payload) values ('loose', ${payload})`.execute(tx.query)
  })
}

async function reportEmpty(): Promise<void> {
  const left = await db.query.selectFrom('jobs').select('id').limit(1).execute()
  if (left.length === 0) process.stdout.write('!')
}

engine.register(EXACT, exact)
engine.register(LOOSE, loose)
engine.start()
// The clock's timers keep no process alive, and this one is to live until it is killed.
process.stdin.resume()
