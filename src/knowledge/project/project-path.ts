import { AppError } from '../../platform/errors/app-error.ts'

export const LONGEST_PATH = 500

const DRIVE = /^[A-Za-z]:\//

/** A path as it is recorded: absolute, with single slashes between and none at the end. It names no place we read. */
export function projectPath(text: string): string {
  const path = cleaned(text)
  return DRIVE.test(path) || path.startsWith('/') ? path : `/${path}`
}

/** For a change of the path, where a relative one is most likely a mistake. */
export function absoluteProjectPath(text: string): string {
  const path = cleaned(text)
  if (!DRIVE.test(path) && !path.startsWith('/')) throw problem('must be absolute, such as /notes/research')
  return path
}

function cleaned(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length > LONGEST_PATH) throw problem(`must have at most ${LONGEST_PATH} characters`)
  if (!trimmed.isWellFormed() || /\p{Cc}/u.test(trimmed)) throw problem('must not hold control characters')
  const slashed = trimmed.replaceAll('\\', '/')
  const segments = slashed.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.length === 0) throw problem('must name a folder')
  if (segments.includes('..')) throw problem('must not hold ".."')
  return `${slashed.startsWith('/') ? '/' : ''}${segments.join('/')}`.normalize('NFC')
}

function problem(what: string): AppError {
  return new AppError('invalid_argument', `The path of a project ${what}`)
}
