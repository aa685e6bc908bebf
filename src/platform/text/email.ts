import { foldedText } from './folded-text.ts'

// Whatever cannot be seen (control and format characters, blanks of any kind, half a surrogate pair) could make two
// different addresses look alike.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u
// Internationalised names are kept as typed, so letters of every script count.
const DOMAIN = /^[\p{L}\p{M}\p{Nd}-]+(?:\.[\p{L}\p{M}\p{Nd}-]+)*$/u

const SHORTEST = 3
const LONGEST = 254
const LONGEST_LOCAL_PART = 64

/** The address as it is stored (trimmed, in lower case, in Unicode form C), or undefined when it cannot be one. */
export function parseEmail(text: string): string | undefined {
  // Refused before any work: lower-casing and counting characters of a megabyte is what an attacker would ask for.
  if (text.length > 4 * LONGEST) return undefined
  const email = foldedText(text.trim())
  const length = countCharacters(email)
  if (length < SHORTEST || length > LONGEST || INVISIBLE.test(email)) return undefined
  const parts = email.split('@')
  if (parts.length !== 2) return undefined
  const [local, domain] = parts as [string, string]
  if (local === '' || countCharacters(local) > LONGEST_LOCAL_PART) return undefined
  return DOMAIN.test(domain) ? email : undefined
}

export function domainOf(email: string): string {
  return email.slice(email.indexOf('@') + 1)
}

const PAIR = /[\ud800-\udbff]/

function countCharacters(text: string): number {
  return PAIR.test(text) ? [...text].length : text.length
}
