import { AppError, isAppError } from '../errors/app-error.ts'

/** SQLite's extended result codes and PostgreSQL's SQLSTATEs that the code tells apart. */
const SQLITE = {
  ERROR: 1,
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  CONSTRAINT: 19,
  NOTADB: 26,
}
// The memory beside the log (`-shm`) could not be made larger. SQLite takes that for an error of the disk, but it is a full one.
const IOERR_SHMSIZE = 4874
const DAMAGE = new Set([SQLITE.ERROR, SQLITE.CORRUPT, SQLITE.CONSTRAINT, SQLITE.NOTADB])
const LOST_TABLE = /^(no such table|vtable constructor failed)/
const FILE_TROUBLE = new Set([SQLITE.NOMEM, SQLITE.READONLY, SQLITE.IOERR, SQLITE.CANTOPEN])
const FULL_CODES = new Set(['ENOSPC', 'EDQUOT'])
const FILE_CODES = new Set(['EACCES', 'EPERM', 'EROFS', 'EIO', 'EISDIR', 'ENOENT', 'ENOTDIR', 'EMFILE', 'ENFILE'])
const SQLITE_UNIQUE = new Set([1555, 2067, 2579])
const RETRY_STATES = new Set(['40001', '40P01'])
// 25006: the connection leads to a copy that only reads, as after a switch to another server. 25P03, 25P04: the server heard nothing
// of a change for too long, as when this process was stopped in the middle of it, and has ended the connection.
const LOST_STATES = /^(08...|25006|25P0[34]|28...|3D000|57P0[1-5]|53...|58...)$/
// An operator, or a limit that one has set (statement_timeout, lock_timeout), ended a statement. The connection is as good as before.
const STOPPED_STATES = new Set(['57014', '55P03'])
const LOST_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EACCES',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOENT',
  // This process, or the machine, has no more files to open or no memory for a socket; a local socket may have too many waiting.
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'EAGAIN',
])
// Certificates that expired, or are not those that are known, on this side or the other.
const TLS_CODES = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/

interface EngineError {
  code?: string
  errcode?: number
  message?: string
  /** Where PostgreSQL met it, in whatever language it words it. */
  routine?: string
}

function sqliteCode(error: EngineError): number | undefined {
  if (error.code !== 'ERR_SQLITE_ERROR' || error.errcode === undefined) return undefined
  return error.errcode === IOERR_SHMSIZE ? SQLITE.FULL : error.errcode & 0xff
}

export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as EngineError
  return code === '23505' || (code === 'ERR_SQLITE_ERROR' && SQLITE_UNIQUE.has(errcode as number))
}

export function isSqliteBusy(error: unknown): boolean {
  const code = sqliteCode((error ?? {}) as EngineError)
  return code === SQLITE.BUSY || code === SQLITE.LOCKED
}

/** A file that has one writer, who breaks none of its rules, is no database, or not as the writer left it. */
export function isSqliteDamage(error: unknown): boolean {
  const code = sqliteCode((error ?? {}) as EngineError)
  return code !== undefined && DAMAGE.has(code)
}

/** What a statement finds that reads from a file which is damaged, no database, or without its tables. */
export function isSqliteCorruption(error: unknown): boolean {
  const code = sqliteCode((error ?? {}) as EngineError)
  if (code === SQLITE.ERROR) return LOST_TABLE.test((error as Error).message)
  return code === SQLITE.CORRUPT || code === SQLITE.NOTADB
}

/** Which of several files that a statement reads is damaged, it does not say. */
export function isSomeCorruption(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as EngineError
  return code === 'ERR_SQLITE_ERROR' && errcode === SQLITE.CORRUPT
}

/** `full`: there is no space left. `failed`: a file cannot be opened, read or written. Undefined: it is nothing of that kind. */
export function diskTrouble(error: unknown): 'full' | 'failed' | undefined {
  const { code = '' } = (error ?? {}) as EngineError
  const sqlite = sqliteCode((error ?? {}) as EngineError)
  if (sqlite === SQLITE.FULL || FULL_CODES.has(code)) return 'full'
  return (sqlite !== undefined && FILE_TROUBLE.has(sqlite)) || FILE_CODES.has(code) ? 'failed' : undefined
}

/** PostgreSQL asks for the whole transaction to be run again. */
export function isSerializationFailure(error: unknown): boolean {
  return RETRY_STATES.has((error as EngineError)?.code ?? '')
}

/** Another statement of the transaction has failed, of which this error says nothing: PostgreSQL does no more in it. */
export function isBehindFailure(error: unknown): boolean {
  return (error as EngineError)?.code === '25P02'
}

/**
 * A newer version on another node has changed a table: what this connection prepared before is refused from now on. Nothing of
 * the statement was done, and another connection takes it.
 */
export function isStalePlan(error: unknown): boolean {
  const { code, routine } = (error ?? {}) as EngineError
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

/** Both sides cannot agree on how to encrypt, or on who the other one is. */
export function isTlsTrouble(error: unknown): boolean {
  const { code, message } = (error ?? {}) as EngineError
  return TLS_CODES.test(code ?? '') || /(support|establishing an) SSL connection/.test(message ?? '')
}

/** The server, or the limit of a role or database, gives no more of them. */
export function isOutOfConnections(error: unknown): boolean {
  return ((error ?? {}) as EngineError).code === '53300'
}

export function isConnectionLost(error: unknown): boolean {
  const { code, message } = (error ?? {}) as EngineError
  return (
    LOST_CODES.has(code ?? '') ||
    LOST_STATES.test(code ?? '') ||
    isTlsTrouble(error) ||
    isStalePlan(error) ||
    /connection terminated|not currently accepting connections|timeout exceeded when trying to connect|query read timeout|client has encountered a connection error|not queryable|^SASL: /i.test(
      message ?? '',
    )
  )
}

/**
 * What the storage layer throws for trouble that is not the caller's fault. Everything else (a constraint, a bug)
 * passes unchanged, so that stores can tell a duplicate from a defect.
 */
export function toStorageError(error: unknown): unknown {
  if (isAppError(error)) return error
  switch (sqliteCode((error ?? {}) as EngineError)) {
    case SQLITE.FULL:
      return diskFull(error)
    case SQLITE.BUSY:
    case SQLITE.LOCKED:
      return unavailable('Another process keeps the database locked: repeat the request', error)
    case SQLITE.IOERR:
    case SQLITE.READONLY:
      return unavailable(
        'The database file cannot be written: check the data directory, its permissions and its disk',
        error,
      )
    case SQLITE.CANTOPEN:
      return unavailable(
        'The database file cannot be opened: check the data directory, its permissions and its disk, and how many files ' +
          'the server may have open (ulimit -n)',
        error,
      )
    case SQLITE.NOMEM:
      return unavailable('The machine has no memory left for the database: repeat the request', error)
    case SQLITE.CORRUPT:
    case SQLITE.NOTADB:
      // SQLite says the same where the disk fails to read.
      return unavailable(
        'The database file is damaged, or its disk fails: look at the log of the system, run "commonplace doctor", then restore a backup',
        error,
      )
  }
  const code = (error as EngineError)?.code
  if (code === '53100')
    return unavailable('The disk of the PostgreSQL server is full: free some space and repeat the request', error)
  if (code === '25006')
    return unavailable(
      'The PostgreSQL server takes no changes right now, being a standby or set to default_transaction_read_only: ' +
        'repeat the request when it does',
      error,
    )
  if (code === '42501')
    return unavailable(
      'The role that the server uses lacks a right in the PostgreSQL database: grant it, and repeat the request',
      error,
    )
  if (isConnectionLost(error) || STOPPED_STATES.has(code ?? ''))
    return unavailable('Storage does not answer right now: repeat the request', error)
  if (isSerializationFailure(error)) {
    return new AppError('aborted', 'Too many concurrent changes to the same data: repeat the request', { cause: error })
  }
  return error
}

/** Whether the same would be taken later: nothing is wrong with what was to be written. */
export function isStorageAway(error: unknown): error is AppError {
  return isAppError(error, 'unavailable') || isAppError(error, 'aborted')
}

/** What whoever wanted something written is told. */
export function diskFull(cause: unknown): AppError {
  return unavailable('The disk that holds the data directory is full: free some space and repeat the request', cause)
}

function unavailable(message: string, cause: unknown): AppError {
  return new AppError('unavailable', message, { cause, headers: { 'retry-after': '5' } })
}
