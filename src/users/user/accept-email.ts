import { DOMAIN } from '../../platform/config/formats.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { domainOf, parseEmail } from '../../platform/text/email.ts'

/** A new address in the form it is stored in, if the settings let it in. */
export function acceptEmail(text: string, allowedDomains: readonly string[]): string {
  const email = parseEmail(text)
  if (email === undefined) throw new AppError('invalid_argument', 'email is not a valid email address')
  // Addresses keep their domains as they were typed; the settings have them in ASCII.
  const domain = DOMAIN.parse(domainOf(email))
  if (allowedDomains.length > 0 && !allowedDomains.some((allowed) => allowed.toLowerCase() === domain)) {
    throw new AppError('invalid_argument', `email must be in one of these domains: ${allowedDomains.join(', ')}`)
  }
  return email
}
