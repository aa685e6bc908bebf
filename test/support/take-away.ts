import pg from 'pg'

/** Ends every connection to a PostgreSQL database and refuses new ones; the answer gives it back. */
export async function takeAway(url: string): Promise<() => Promise<void>> {
  const name = new URL(url).pathname.slice(1)
  const admin = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href })
  await admin.connect()
  await admin.query(`alter database ${name} allow_connections false`)
  // Waits for the end of each: one that has only been told to end may be given to the next question.
  const ended = 'select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = $1'
  while ((await admin.query(ended, [name])).rowCount !== 0);
  return async function back() {
    await admin.query(`alter database ${name} allow_connections true`)
    await admin.end()
  }
}
