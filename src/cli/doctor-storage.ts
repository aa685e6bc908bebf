import { realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { checkSqliteFile, findBrokenReferences, inspectEngine, newestRecord } from '../platform/backup/inspect.ts'
import { type Clock, MICROS_PER_SECOND } from '../platform/clock/clock.ts'
import { isAppError } from '../platform/errors/app-error.ts'
import { jobStatistics } from '../platform/jobs/store-statistics.ts'
import type { Logger } from '../platform/logging/logger.ts'
import { checkEncryptionKey } from '../platform/secrets/open-cipher.ts'
import type { Database } from '../platform/storage/database.ts'
import { schemaVersion } from '../platform/storage/migrate.ts'
import { openDatabase, SQLITE_FILE } from '../platform/storage/open.ts'
import type { Settings } from '../settings.ts'
import { someActiveAdministrators } from '../users/role/store-roles.ts'
import { findOrganizationId } from '../users/store-installation.ts'
import { checkEmbeddings } from './doctor-embedding.ts'
import { type Finding, failed, ok, warning } from './doctor-finding.ts'
import { fileState } from './file-state.ts'
import { formatBytes } from './progress.ts'

const LARGE_LOG = 256_000_000
const CLOCK_DIFFERENCE = 5 * MICROS_PER_SECOND

export interface StorageCheckOptions {
  settings: Pick<Settings, 'storage' | 'auth'>
  clock: Clock
  log: Logger
  full: boolean
}

/** Looks, and changes nothing: a database that is not there yet is not made. */
export async function checkStorage(options: StorageCheckOptions): Promise<Finding[]> {
  const { data_dir: dataDir, database_url: databaseUrl } = options.settings.storage
  const file = join(dataDir, SQLITE_FILE)
  const state = databaseUrl ? 'there' : fileState(file)
  if (state === 'missing') return [ok('storage', `there is no ${file} yet; the first start creates it`)]
  if (state !== 'there') {
    const advice = 'correct owner and permissions of the data directory, or run this as the user who runs the server'
    return [failed('storage', `${file} cannot be read (${state.unreadable})`, advice)]
  }
  let db: Database
  try {
    db = await openDatabase({ databaseUrl, dataDir, poolSize: 2, clock: options.clock, log: options.log })
  } catch (error) {
    return [storageFailure(error)]
  }
  try {
    return await inspect(db, file, options)
  } catch (error) {
    return [storageFailure(error)]
  } finally {
    await db.close()
  }
}

async function inspect(db: Database, file: string, options: StorageCheckOptions): Promise<Finding[]> {
  const { settings, clock, full } = options
  const { version, hasty, now } = await inspectEngine(db)
  const findings = [
    ok('storage', `${db.engine === 'sqlite' ? `SQLite ${version}, ${file}` : `PostgreSQL ${version}`} answers`),
  ]
  if (hasty.length > 0) {
    const message = `PostgreSQL says that a change is done before it is on disk (${hasty.join(', ')})`
    findings.push(
      warning('durability', message, 'turn it on, unless you can do without the last changes after a crash'),
    )
  }
  if (now !== null) findings.push(checkServerClock(now, clock))
  if (db.engine === 'sqlite') findings.push(...(await checkFile(db, file, full)))
  const schema = await checkSchema(db)
  findings.push(schema)
  if (schema.status === 'ok') {
    findings.push(await checkSecrets(db, settings.auth.encryption_key), ...(await checkContents(db, clock)))
  }
  return findings
}

function checkServerClock(now: number, clock: Clock): Finding {
  const difference = Math.abs(now - clock.now())
  if (difference <= CLOCK_DIFFERENCE) return ok('server clock', 'PostgreSQL and this machine agree about the time')
  const seconds = Math.round(difference / MICROS_PER_SECOND)
  return warning(
    'server clock',
    `PostgreSQL and this machine differ by ${seconds} s`,
    'synchronise both clocks, for example with NTP',
  )
}

async function checkFile(db: Database, file: string, full: boolean): Promise<Finding[]> {
  const problems = await checkSqliteFile(db, { full })
  if (full && problems.length === 0) problems.push(...(await findBrokenReferences(db)))
  const log = statSync(`${realpathSync(file)}-wal`, { throwIfNoEntry: false })?.size ?? 0
  return [
    problems.length === 0
      ? ok(
          'integrity',
          full ? 'every page, index and reference is in order' : 'the file is whole (--full looks closer)',
        )
      : failed(
          'integrity',
          `the file is damaged: ${problems.join('; ')}`,
          'stop the server, keep a copy of the file, restore a backup',
        ),
    log < LARGE_LOG
      ? ok('write-ahead log', formatBytes(log))
      : warning(
          'write-ahead log',
          `it has grown to ${formatBytes(log)}`,
          'something reads for very long; restart the server to shrink it',
        ),
  ]
}

async function checkSchema(db: Database): Promise<Finding> {
  try {
    const { version, known, pending } = await schemaVersion(db)
    if (pending.length === 0) return ok('schema', `version ${version} is up to date`)
    const message = version === 0 ? 'the database is empty' : `version ${version} is older than this program's ${known}`
    return warning('schema', message, 'start the server once, or run "commonplace migrate"')
  } catch (error) {
    if (!isAppError(error, 'failed_precondition')) throw error
    return failedWith('schema', error.message)
  }
}

async function checkSecrets(db: Database, encryptionKey: string | null): Promise<Finding> {
  try {
    await checkEncryptionKey(db, encryptionKey)
    return ok('secrets', 'the secrets in the database can be read')
  } catch (error) {
    if (!isAppError(error, 'failed_precondition')) throw error
    return failedWith('secrets', error.message)
  }
}

async function checkContents(db: Database, clock: Clock): Promise<Finding[]> {
  const dead = (await jobStatistics(db)).filter((kind) => kind.dead > 0)
  const organizationId = await findOrganizationId(db)
  const administrators = organizationId === undefined ? [] : await someActiveAdministrators(db, organizationId)
  const ahead = (await newestRecord(db)) - clock.now()
  const findings = [
    dead.length === 0
      ? ok('jobs', 'no job has failed for good')
      : warning(
          'jobs',
          `jobs that failed for good: ${dead.map(({ kind, dead }) => `${dead} ${kind}`).join(', ')}`,
          'see "commonplace job list --state dead"',
        ),
    administrators.length > 0
      ? ok('administrator', 'there is an active administrator')
      : organizationId === undefined
        ? warning('administrator', 'there is no administrator yet', 'start the server once, which creates the first')
        : failed(
            'administrator',
            'no active user has the admin role',
            'run "commonplace user add-role <address> admin", or "commonplace user create <address> --role admin --active"',
          ),
    await checkEmbeddings(db),
  ]
  if (ahead > CLOCK_DIFFERENCE) {
    findings.push(
      warning('clock', 'the database has records from the future: the clock went back', 'set the time of this machine'),
    )
  }
  return findings
}

function storageFailure(error: unknown): Finding {
  if (!isAppError(error)) {
    return failed('storage', (error as Error).message, 'check storage.database_url and storage.data_dir')
  }
  const { cause } = error
  const said = cause instanceof Error ? cause.message : ''
  return failedWith('storage', error.message, said === '' || error.message.includes(said) ? '' : ` (${said})`)
}

/** Sentences of ours end in what to do; to ask the doctor is no advice of the doctor's. */
function failedWith(check: string, sentence: string, cause = ''): Finding {
  const cut = sentence.lastIndexOf(': ')
  if (cut === -1) return failed(check, sentence + cause, 'read the log of the server')
  const advice = sentence
    .slice(cut + 2)
    .replace('run "commonplace doctor", then', 'stop the server, keep a copy of the file, then')
  return failed(check, sentence.slice(0, cut) + cause, advice)
}
