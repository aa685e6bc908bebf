import { API_KEY, APPLICATION_KEY, BEARER_TOKEN, SESSION_TOKEN } from './secrets.ts'
import { readSessionCookie } from './session-cookie.ts'

/** What authentication needs of a request; HTTP headers and RPC metadata both fit. */
export interface CredentialSource {
  /** By lower-case name. */
  header(name: string): string | undefined
  /** In lower case; the dev-mode rule looks for `x-forwarded-*`. */
  headerNames(): Iterable<string>
  /** Of the connection itself, whatever a proxy may say. */
  remoteAddress: string
  method: string
  /** Scheme, host and port under which this server is reached, such as `http://localhost:4040`. */
  serverOrigin: string
}

export type Credentials =
  /** Nothing that looks like a credential. */
  | { kind: 'absent' }
  /** Half a key pair, or a scheme that is not ours: not enough to judge, yet no anonymous request either. */
  | { kind: 'incomplete' }
  /** Cannot be one of our secrets. */
  | { kind: 'malformed' }
  | { kind: 'token'; token: string }
  | { kind: 'session'; token: string; via: 'session' | 'cookie' }
  | { kind: 'key_pair'; apiKey: string; applicationKey: string }

const BEARER = /^bearer(?:[ \t]+|$)/i

/** A bearer token is judged alone; then the key pair; then the cookie. */
export function parseCredentials(source: Pick<CredentialSource, 'header'>): Credentials {
  const authorization = source.header('authorization')
  if (authorization !== undefined && BEARER.test(authorization)) {
    return parseToken(authorization.replace(BEARER, '').trim())
  }
  const apiKey = source.header('dd-api-key') || source.header('x-api-key')
  const applicationKey = source.header('dd-application-key') || source.header('x-application-key')
  if (apiKey && applicationKey) {
    if (!API_KEY.test(apiKey) || !APPLICATION_KEY.test(applicationKey)) return { kind: 'malformed' }
    return { kind: 'key_pair', apiKey, applicationKey }
  }
  const cookie = source.header('cookie')
  const session = cookie === undefined ? undefined : readSessionCookie(cookie)
  if (session)
    return SESSION_TOKEN.test(session) ? { kind: 'session', token: session, via: 'cookie' } : { kind: 'malformed' }
  return apiKey || applicationKey || authorization !== undefined ? { kind: 'incomplete' } : { kind: 'absent' }
}

/**
 * The text of what `parseCredentials` would judge, where that is a bearer or a key pair: the same text is the same
 * credentials. A header cannot hold the line break between two keys.
 */
export function credentialText(source: Pick<CredentialSource, 'header'>): string | undefined {
  const authorization = source.header('authorization')
  if (authorization !== undefined && BEARER.test(authorization)) return authorization
  const apiKey = source.header('dd-api-key') || source.header('x-api-key')
  const applicationKey = apiKey && (source.header('dd-application-key') || source.header('x-application-key'))
  return applicationKey ? `${apiKey}\n${applicationKey}` : undefined
}

function parseToken(token: string): Credentials {
  if (SESSION_TOKEN.test(token)) return { kind: 'session', token, via: 'session' }
  return BEARER_TOKEN.test(token) ? { kind: 'token', token } : { kind: 'malformed' }
}
