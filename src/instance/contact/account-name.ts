import { foldedText } from '../../platform/text/folded-text.ts'

const OTHER = /[^a-z0-9_.-]/gu

/** The local part of a handle as the name of an account, before it is told apart from those of others. */
export function accountNameOf(handle: string): string {
  const end = handle.indexOf('@')
  const local = end === -1 ? handle : handle.slice(0, end)
  return local.toLowerCase().replace(OTHER, '_') || '_'
}

/** What an administrator wrote for a user, as handles and addresses are kept. */
export function contactKey(text: string): string {
  return foldedText(text.trim())
}

/** `ada`, `ada-2`, `ada-3` … */
export function numberedName(base: string, number: number): string {
  return number === 1 ? base : `${base}-${number}`
}
