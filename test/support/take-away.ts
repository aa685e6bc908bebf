import pg from 'pg'

/** Ends every connection to a PostgreSQL database and refuses new ones; the answer gives it back. */
export async function takeAway(url: string): Promise<() => Promise<void>> {
  const name = new URL(url).pathname.slice(1)
  const admin = new pg.Client({ connectionString: Object.assign(new URL(url), { pathname: '/postgres' }).href })
  await admin.connect()
  await admin.query(`alter database ${name} allow_connections false`)
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
  return async function back() {
    await admin.query(`alter database ${name} allow_connections true`)
    await admin.end()
  }
}
