import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'

const LABEL = /^[a-z0-9-]{1,63}$/
// Characters that would end a host name in an address, or be decoded in it.
const NOT_IN_NAMES = /[\s/:@?#%\\[\]]/
const LONGEST_NAME = 255
// The longest name in any script is shorter; more is not worth the work.
const LONGEST_GIVEN = 1_000

/**
 * The one spelling of a domain: lower case, `xn--` form, without blanks and slashes around it and without a dot at the
 * end. Undefined for what is none.
 */
export function normaliseDomain(given: string): string | undefined {
  if (given.length > LONGEST_GIVEN) return undefined
  const name = stripped(given)
  if (name === '' || NOT_IN_NAMES.test(name) || !name.isWellFormed()) return undefined
  const ascii = withoutDot(domainToASCII(name))
  if (ascii.length > LONGEST_NAME) return undefined
  return ascii.split('.').every((label) => LABEL.test(label)) ? ascii : undefined
}

/** The domain and those above it, the most specific first: `a.b.c`, `b.c`, `c`. An address is below nothing. */
export function withParents(domain: string): string[] {
  const names = [domain]
  if (isIP(domain) !== 0) return names
  for (let dot = domain.indexOf('.'); dot !== -1; dot = domain.indexOf('.', dot + 1)) names.push(domain.slice(dot + 1))
  return names
}

function stripped(given: string): string {
  let [start, end] = [0, given.length]
  while (start < end && isAround(given[start] as string)) start += 1
  while (end > start && isAround(given[end - 1] as string)) end -= 1
  return withoutDot(given.slice(start, end))
}

function isAround(char: string): boolean {
  return char === '/' || char.trim() === ''
}

function withoutDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name
}
