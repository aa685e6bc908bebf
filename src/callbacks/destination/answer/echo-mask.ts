import { TOKEN_HEADER } from '../literals.ts'
import { READERS } from './unescaped.ts'

/** The beginning of what a receiver says, without what must stay secret: some repeat the request that they refuse. */
export type EchoMask = (text: string) => string

const SECRET_ENDINGS = ['-token', '-secret', '-key']
// Anything shorter is guessed sooner than read, and may be a part of any word.
const LEAST_CHARACTERS = 6
// More than is kept of anything, and than one secret has.
const MOST_CHARACTERS = 16 * 1024
// A callback has hardly more than two; hundreds of headers with such names, or of cookies in one, only cost time.
const MOST_HEADERS = 32
const MOST_COOKIES = 32
const MASKED = '[redacted]'

/** Of a request with these headers, whose names are in lower case; undefined when none of them is secret. */
export function echoMask(headers: ReadonlyMap<string, string>): EchoMask | undefined {
  const secrets = new Set<string>()
  let count = 0
  for (const [name, value] of headers) {
    if (name !== TOKEN_HEADER && (count >= MOST_HEADERS || !isSecret(name))) continue
    count++
    for (const form of formsOf(name, value)) secrets.add(form)
  }
  if (secrets.size === 0) return undefined
  // The longest first: "Bearer x" goes as a whole, before the "x" in it.
  const longestFirst = [...secrets].sort((one, other) => other.length - one.length)
  // The beginning of "Bearer x" may be the scheme alone, which is no secret.
  const withoutScheme = longestFirst.filter((secret) => !longestFirst.some((other) => secret.endsWith(` ${other}`)))
  const without = (text: string) => longestFirst.reduce((left, secret) => left.replaceAll(secret, MASKED), text)
  return (text) => {
    let masked = without(text.slice(0, MOST_CHARACTERS))
    // A secret whose signs were escaped is seen only in what that means, which is shown instead.
    for (const read of READERS) {
      const plain = read(masked)
      const shown = plain === masked ? masked : without(plain)
      if (shown !== plain) masked = shown
    }
    return withoutScheme.reduce(withoutPieceAtEnd, masked)
  }
}

/** Where the text was cut, by us or by who said it, a secret may have been cut with it. */
function withoutPieceAtEnd(text: string, secret: string): string {
  const beginning = secret.slice(0, LEAST_CHARACTERS)
  let at = text.indexOf(beginning, text.length - secret.length)
  while (at >= 0 && !secret.startsWith(text.slice(at))) at = text.indexOf(beginning, at + 1)
  return at < 0 ? text : text.slice(0, at) + MASKED
}

function isSecret(name: string): boolean {
  return name === 'authorization' || name === 'cookie' || SECRET_ENDINGS.some((ending) => name.endsWith(ending))
}

/** As it was given, the parts of it that a receiver takes out, and all of them as JSON writes them. */
function formsOf(name: string, sent: string): string[] {
  const value = Buffer.from(sent, 'latin1').toString().trim()
  const values = [
    value,
    ...(name === 'authorization' ? credentialsIn(value) : name === 'cookie' ? valuesIn(value) : []),
  ]
  return values.filter(({ length }) => length >= LEAST_CHARACTERS).flatMap(asJsonToo)
}

/** Without their scheme; and the password where that is written in base64, behind its user, who is no secret. */
function credentialsIn(value: string): string[] {
  const [, scheme = '', credentials = ''] = /^(\S+)\s+(.*)$/s.exec(value) ?? []
  if (scheme.toLowerCase() !== 'basic') return [credentials]
  const pair = Buffer.from(credentials, 'base64').toString()
  return [credentials, pair.slice(pair.indexOf(':') + 1)]
}

/** The longest are the likeliest secrets. */
function valuesIn(cookies: string): string[] {
  return cookies
    .split(';')
    .map((cookie) =>
      cookie
        .slice(cookie.indexOf('=') + 1)
        .trim()
        .replace(/^"(.*)"$/s, '$1'),
    )
    .sort((one, other) => other.length - one.length)
    .slice(0, MOST_COOKIES)
}

function asJsonToo(value: string): string[] {
  if (!/["\\/]/.test(value)) return [value]
  const json = JSON.stringify(value).slice(1, -1)
  return [value, json, json.replaceAll('/', '\\/')]
}
