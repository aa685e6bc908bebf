import { sql } from 'kysely'
import type { Database } from '../../src/platform/storage/database.ts'

/** From now on the database takes no transition of the runs of which this holds (`new` is the row); the answer lets it. */
export async function refuseTransitions(db: Database, which: string): Promise<() => Promise<unknown>> {
  const run = (text: string) => db.write((tx) => sql.raw(text).execute(tx.query))
  const when = `when (${which} and new.transition_count <> old.transition_count)`
  if (db.engine === 'sqlite') {
    await run(`create trigger refuse before update on callback_runs ${when} begin select raise(abort, 'refused'); end`)
    return () => run('drop trigger refuse')
  }
  await run(`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`)
  await run(`create trigger refuse before update on callback_runs for each row ${when} execute function refuse()`)
  return () => run('drop trigger refuse on callback_runs')
}
