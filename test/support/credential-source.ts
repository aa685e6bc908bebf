import type { CredentialSource } from '../../src/platform/auth/credentials.ts'

/** Of headers as Node gives them. */
export function credentialSource(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  connection: Pick<CredentialSource, 'remoteAddress' | 'method' | 'serverOrigin'>,
): CredentialSource {
  return {
    header(name) {
      const value = headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    headerNames: () => Object.keys(headers),
    remoteAddress: connection.remoteAddress,
    method: connection.method,
    serverOrigin: connection.serverOrigin,
  }
}
