import type { FastifyInstance } from 'fastify'
import { MICROS_PER_MS } from '../../platform/clock/clock.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import type { UsersDeps } from '../deps.ts'
import { CredentialService } from './credential-service.ts'
import { keepMadeKey } from './keep-made-key.ts'
import { OwnedKeyService } from './owned-key-service.ts'
import { ownedKeyRoutes, ownKeys } from './routes-owned-keys.ts'
import {
  TokenCreateBody,
  TokenListQuery,
  TokenUpdateBody,
  tokenSchemas,
  tokenToWire,
  withSecret,
} from './schema-keys.ts'

const URL = '/api/v2/personal_access_tokens'

export function tokenRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const credentials = new CredentialService(deps)

  ownedKeyRoutes(server, {
    url: URL,
    pathFields: {},
    name: 'PersonalAccessToken',
    what: "one of the caller's own personal access tokens",
    several: "the caller's own personal access tokens",
    noun: 'Personal access token',
    access: 'user_app_keys',
    keys: new OwnedKeyService(deps, 'access_tokens'),
    schemas: { ...tokenSchemas, updateBody: TokenUpdateBody, listQuery: TokenListQuery },
    ownerOf: ownKeys,
    toWire: tokenToWire,
  })

  operation(server, {
    method: 'POST',
    url: URL,
    operationId: 'CreatePersonalAccessToken',
    summary: 'Create a personal access token of the caller',
    description:
      'The answer is the only one that shows the token. In a session it needs a sign-in within the last 10 minutes.',
    surface: 'users',
    access: 'user_app_keys',
    rateLimit: 'users_write',
    schema: { body: TokenCreateBody, response: { 201: tokenSchemas.minted } },
    async handler(request, reply) {
      const { name, scopes = null, expires_at: expiry } = request.body.data.attributes
      const expiresAt = Date.parse(expiry) * MICROS_PER_MS
      const input = { userId: await ownKeys(request), name, scopes, expiresAt }
      const token = await credentials.createToken(
        callerOf(request),
        input,
        clientOf(request),
        keepMadeKey(request, tokenToWire),
      )
      return reply.code(201).send({ data: withSecret(tokenToWire(token), token.plain) })
    },
  })
}
