import { invalid } from '../wire/invalid.ts'
import { readTarget } from './address/target.ts'
import { destinationOf, LONGEST_DESTINATION } from './destination-of.ts'

/** The one spelling of a destination that a caller named; throws `invalid_argument` when it is none. */
export function readDestinationName(text: string): string {
  const { target } = text.length > LONGEST_DESTINATION ? { target: undefined } : readTarget(text)
  const isBare = target?.requestPath === '/' && target.url.hash === '' && !target.hasCredentials
  const name = isBare ? destinationOf(target) : ''
  // As it is kept: letters of other scripts become several characters each.
  if (name === '' || name.length > LONGEST_DESTINATION) {
    throw invalid('destination must be the scheme and host of an address, and its port if it has one')
  }
  return name
}
