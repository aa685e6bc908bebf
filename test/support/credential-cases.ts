/** Every way to come with credentials that do not work, made on a running server. */
import { MICROS_PER_SECOND, SystemClock } from '../../src/platform/clock/clock.ts'
import type { Callers } from './callers.ts'
import { type Identity, session } from './identity.ts'
import type { TestServer } from './start-server.ts'
import { client, type TestClient } from './test-client.ts'

export type CredentialHeaders = Record<string, string>

const API_KEYS = '/api/v2/api_keys'
const OWN_KEYS = '/api/v2/current_user/application_keys'
const A_SECOND_AGO = () => new SystemClock().now() - MICROS_PER_SECOND

export function bearerHeader(token: string): CredentialHeaders {
  return { authorization: `Bearer ${token}` }
}

function keyHeaders(apiKey: string, applicationKey: string): CredentialHeaders {
  return { 'dd-api-key': apiKey, 'dd-application-key': applicationKey }
}

/** Too little to judge: 401. */
export function incompleteCredentials(server: TestServer): Record<string, CredentialHeaders> {
  return {
    'no credentials': {},
    'an API key alone': { 'dd-api-key': server.apiKey },
    'an application key alone': { 'dd-application-key': server.applicationKey },
    'an API key alone, by its neutral name': { 'x-api-key': server.apiKey },
    'an application key alone, by its neutral name': { 'x-application-key': server.applicationKey },
    'a scheme that is not ours': { authorization: `Basic ${btoa('admin@example.org:password')}` },
    'an empty cookie': { cookie: 'commonplace_session=' },
  }
}

/** Complete, and good for nothing: 403 for each cause alike. */
export async function uselessCredentials(
  server: TestServer,
  callers: Callers,
): Promise<Record<string, CredentialHeaders>> {
  const admin = client(server)
  const other = 'f'.repeat(40)
  return {
    'a bearer header without a token': { authorization: 'Bearer' },
    'a malformed token': bearerHeader('no token of ours!'),
    'an unknown token': bearerHeader(`pat_${'a'.repeat(22)}_${'b'.repeat(43)}`),
    'an unknown session token': bearerHeader(`ses_${'a'.repeat(43)}`),
    'an unknown token beside a good key pair': {
      ...keyHeaders(server.apiKey, server.applicationKey),
      authorization: 'Bearer x',
    },
    'an unknown cookie': { cookie: `commonplace_session=ses_${'a'.repeat(43)}` },
    'an unknown API key': keyHeaders('f'.repeat(32), server.applicationKey),
    'an unknown application key': keyHeaders(server.apiKey, other),
    'malformed keys': keyHeaders('short', 'also short'),
    'an expired token': await expiredToken(callers),
    'a revoked token': await revokedToken(callers),
    'a revoked API key': await revokedApiKey(server, admin),
    'a revoked application key': await revokedApplicationKey(server, admin),
    'an expired session': await expiredSession(callers),
    'the token of a disabled owner': await ofDisabledOwner(server, callers, 'token'),
    'the keys of a disabled owner': await ofDisabledOwner(server, callers, 'keys'),
    'the keys of a pending owner': await ofPendingOwner(server, callers),
  }
}

/** A signed-in console of somebody; nobody has to hash a password for it. */
export async function sessionOf(callers: Callers, userId: string, lifeMs = 3_600_000) {
  const identity = { db: callers.db, clock: new SystemClock(), administratorId: userId }
  return session(identity as unknown as Identity, lifeMs)
}

async function expiredToken(callers: Callers): Promise<CredentialHeaders> {
  const { token, userId } = await callers.make({ roles: ['admin'] })
  await callers.db.write((tx) =>
    tx.query.updateTable('access_tokens').set({ expires_at: A_SECOND_AGO() }).where('user_id', '=', userId).execute(),
  )
  return bearerHeader(token)
}

async function revokedToken(callers: Callers): Promise<CredentialHeaders> {
  const { token, client } = await callers.make({ roles: ['admin'] })
  const [own] = (await client.get('/api/v2/personal_access_tokens', 200)).body.data
  await client.delete(`/api/v2/personal_access_tokens/${own.id}`, 204)
  return bearerHeader(token)
}

async function revokedApiKey(server: TestServer, admin: TestClient): Promise<CredentialHeaders> {
  const { id, attributes } = (await admin.post(API_KEYS, 201, newKey('api_keys'))).body.data
  await admin.delete(`${API_KEYS}/${id}`, 204)
  return keyHeaders(attributes.key, server.applicationKey)
}

async function revokedApplicationKey(server: TestServer, admin: TestClient): Promise<CredentialHeaders> {
  const { id, attributes } = (await admin.post(OWN_KEYS, 201, newKey('application_keys'))).body.data
  await admin.delete(`${OWN_KEYS}/${id}`, 204)
  return keyHeaders(server.apiKey, attributes.key)
}

async function expiredSession(callers: Callers): Promise<CredentialHeaders> {
  const { userId } = await callers.make({ roles: ['admin'] })
  const { cookie, csrf_token: csrfToken } = await sessionOf(callers, userId, -1_000)
  return { cookie, 'x-csrf-token': csrfToken }
}

async function ofDisabledOwner(server: TestServer, callers: Callers, kind: 'token' | 'keys') {
  const { userId, token, client: owner } = await callers.make({ roles: ['admin'] })
  const key = (await owner.post(OWN_KEYS, 201, newKey('application_keys'))).body.data.attributes.key
  await client(server).delete(`/api/v2/users/${userId}`, 204)
  return kind === 'token' ? bearerHeader(token) : keyHeaders(server.apiKey, key)
}

async function ofPendingOwner(server: TestServer, callers: Callers): Promise<CredentialHeaders> {
  const { userId, client: owner } = await callers.make({ roles: ['admin'] })
  const key = (await owner.post(OWN_KEYS, 201, newKey('application_keys'))).body.data.attributes.key
  await callers.db.write((tx) =>
    tx.query.updateTable('users').set({ status: 'Pending' }).where('id', '=', userId).execute(),
  )
  return keyHeaders(server.apiKey, key)
}

function newKey(type: 'api_keys' | 'application_keys', scopes: readonly string[] | null = null) {
  return { body: { data: { type, attributes: { name: 'for a test', ...(scopes && { scopes }) } } } }
}

/** A key pair of somebody, narrowed to these permissions. */
export async function scopedKeys(server: TestServer, owner: TestClient, scopes: readonly string[]) {
  const { body } = await owner.post(OWN_KEYS, 201, newKey('application_keys', scopes))
  return keyHeaders(server.apiKey, body.data.attributes.key)
}
