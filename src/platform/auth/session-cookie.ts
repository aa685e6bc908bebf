const SESSION_COOKIE = 'commonplace_session'

/** The value of the session cookie in a `Cookie` header. The first one counts when a name is repeated. */
export function readSessionCookie(header: string): string | undefined {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at === -1 || pair.slice(0, at).trim() !== SESSION_COOKIE) continue
    const value = pair.slice(at + 1).trim()
    return value.startsWith('"') && value.endsWith('"') && value.length > 1 ? value.slice(1, -1) : value
  }
  return undefined
}

/**
 * A `Set-Cookie` value. `Secure` wherever people reach the server over https; without https a browser would drop such a
 * cookie, and not all of them make an exception for loopback names.
 */
export function sessionCookie(token: string, maxAgeMs: number, origin: string): string {
  const maxAge = Math.max(0, Math.floor(maxAgeMs / 1_000))
  const secure = origin.startsWith('https:') ? ' Secure;' : ''
  return `${SESSION_COOKIE}=${token}; Path=/; Max-Age=${maxAge}; HttpOnly;${secure} SameSite=Lax`
}

export function clearedSessionCookie(origin: string): string {
  return sessionCookie('', 0, origin)
}
