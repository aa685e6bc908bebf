import { COMMON_PASSWORDS } from './common-passwords.ts'
import { passwordText } from './password-text.ts'

// Longer ones only cost memory and time in the hash.
export const LONGEST_PASSWORD = 1_024

/** Why the password is refused, as the end of "The password …"; undefined when it is good. */
export function passwordProblem(password: string, rules: { minLength: number; email: string }): string | undefined {
  const length = password.length > LONGEST_PASSWORD ? password.length : [...password].length
  if (length > LONGEST_PASSWORD) return `must have at most ${LONGEST_PASSWORD} characters`
  const text = passwordText(password)
  if (Math.min(length, [...text].length) < rules.minLength) {
    return `must have at least ${rules.minLength} characters`
  }
  const folded = text.trim().toLowerCase()
  if (folded === '' || COMMON_PASSWORDS.has(folded)) return 'is one of the first that anybody would try'
  if (folded === passwordText(rules.email).toLowerCase()) return 'must not be the email address'
  return undefined
}
