import { sql } from 'kysely'
import { AppError } from '../errors/app-error.ts'
import type { Reader, Transaction } from './database.ts'

// Not allowed, and the two ways in which servers say that the extension is not installed.
const CANNOT_CREATE = new Set(['42501', '0A000', '58P01'])

/** What migrations need of a database that others may have set up: a schema to create tables in, and the extension for parts of words. */
export async function prepareSchema(tx: Transaction): Promise<void> {
  await refuseWithoutSchema(tx)
  await prepareTrigrams(tx)
}

/** A server that takes no changes is of no use to us; it is better to say so than to fail at the first one. */
export async function refuseReadOnly(db: Reader): Promise<void> {
  if (db.engine !== 'postgres') return
  const { rows } = await sql<{ answer: string }>`select current_setting('transaction_read_only') as answer`.execute(
    db.query,
  )
  if (rows[0]?.answer !== 'on') return
  throw new AppError(
    'failed_precondition',
    'The PostgreSQL server takes no changes, being a standby or set to default_transaction_read_only: connect to the primary, ' +
      'or turn that setting off',
  )
}

async function refuseWithoutSchema(tx: Transaction): Promise<void> {
  const { rows } = await sql<{ role: string; schema: string | null; may: boolean | null }>`
    select current_user::text as role, current_schema()::text as schema, has_schema_privilege(current_schema(), 'create') as may`.execute(
    tx.query,
  )
  const { role, schema, may } = rows[0] as (typeof rows)[number]
  if (may) return
  throw new AppError(
    'failed_precondition',
    schema === null
      ? `No schema of the search_path of the role ${role} is there: create one, or set another search_path`
      : `The role ${role} may not create tables in the schema ${schema}: ` +
          `run 'grant create, usage on schema "${schema}" to "${role}"' as its owner`,
  )
}

/** Somebody else may have created it, in a schema that is not looked in. */
async function prepareTrigrams(tx: Transaction): Promise<void> {
  const { rows } = await sql<{ schema: string; seen: boolean }>`
    select n.nspname::text as schema, n.nspname = any(current_schemas(true)) as seen
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'`.execute(tx.query)
  const [extension] = rows
  if (extension === undefined) return createTrigrams(tx)
  if (extension.seen) return
  await sql`
    select set_config('search_path', current_setting('search_path') || ', ' || quote_ident(${extension.schema}), true)`.execute(
    tx.query,
  )
}

async function createTrigrams(tx: Transaction): Promise<void> {
  try {
    await sql`create extension if not exists pg_trgm`.execute(tx.query)
  } catch (error) {
    if (!CANNOT_CREATE.has((error as { code?: string }).code ?? '')) throw error
    throw new AppError(
      'failed_precondition',
      'The database needs the extension pg_trgm, which comes with PostgreSQL (in some distributions as postgresql-contrib), ' +
        "and this role cannot create it: run 'create extension pg_trgm' in that database as an administrator",
      { cause: error },
    )
  }
}
