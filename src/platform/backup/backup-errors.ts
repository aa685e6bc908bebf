import { AppError } from '../errors/app-error.ts'

/** The file itself is the problem. */
export function unreadable(message: string, cause?: unknown): AppError {
  return new AppError('failed_precondition', message, { cause })
}

export function damaged(file: string, what: string, cause?: unknown): AppError {
  return unreadable(
    `The backup ${file} is damaged (${what}): nothing was restored; take another backup or a fresh copy`,
    cause,
  )
}

export function notABackup(file: string): AppError {
  return unreadable(`The file ${file} is no backup of Commonplace: name one that "commonplace backup" wrote`)
}

export function madeByNewerVersion(file: string, schema: number, known: number): AppError {
  return unreadable(
    `The backup ${file} was made by a newer version of Commonplace (schema ${schema}, this version knows ${known}): ` +
      'restore it with that version or a later one',
  )
}

export function notEmpty(where: string, what: string): AppError {
  return new AppError(
    'failed_precondition',
    `${where} is not empty (${what}): restore into a new data directory or database; nothing was changed`,
  )
}

/** Trouble with a file of the operator's, in a sentence that names it. */
export function fileTrouble(file: string, action: 'read' | 'written', error: unknown): unknown {
  const { code, errcode } = error as { code?: string; errcode?: number }
  const reason = FILE_REASONS[code === 'ERR_SQLITE_ERROR' ? `sqlite ${(errcode ?? 0) & 0xff}` : (code ?? '')]
  if (reason === undefined) return error
  return new AppError('failed_precondition', `The file ${file} cannot be ${action}: ${reason}`, { cause: error })
}

const FULL = 'the disk is full; free some space or choose another place'
const DENIED = 'permission denied; correct its owner or permissions, or choose another place'
const FILE_REASONS: Record<string, string> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  'sqlite 13': FULL,
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: 'the disk is read-only; choose another place',
  ENOENT: 'there is no such file or directory; check the path',
  ENOTDIR: 'a part of its path is no directory; check the path',
  EEXIST: 'a part of its path is no directory; check the path',
  EISDIR: 'it is a directory; name a file',
  EIO: 'the disk reports an error; check the disk',
  'sqlite 10': 'the disk reports an error; check the disk and its free space',
  'sqlite 14': 'it cannot be opened; check the path and permissions',
}
