import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId } from '../../platform/http/route/path-id.ts'
import type { UsersDeps } from '../deps.ts'
import { requireServiceAccount } from '../look-up.ts'
import { CredentialService } from './credential-service.ts'
import { keepMadeKey } from './keep-made-key.ts'
import { OwnedKeyService } from './owned-key-service.ts'
import { type KeyPlace, ownedKeyRoutes, ownKeys } from './routes-owned-keys.ts'
import {
  ApplicationKeyCreateBody,
  ApplicationKeyListQuery,
  ApplicationKeyUpdateBody,
  applicationKeySchemas,
  applicationKeyToWire,
  withSecret,
} from './schema-keys.ts'

type Place = KeyPlace<'application_keys'>
type Particulars = Pick<Place, 'url' | 'pathFields' | 'name' | 'what' | 'several' | 'access' | 'ownerOf'>

/** Three paths to the same keys: one's own, those of a service account, and everybody's. */
export function applicationKeyRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const credentials = new CredentialService(deps)
  const keys = new OwnedKeyService(deps, 'application_keys')

  function place(particulars: Particulars): Place {
    return {
      ...particulars,
      noun: 'Application key',
      keys,
      schemas: {
        ...applicationKeySchemas,
        updateBody: ApplicationKeyUpdateBody,
        listQuery: ApplicationKeyListQuery,
      },
      toWire: applicationKeyToWire,
    }
  }

  function createRoute({ url, pathFields, name, what, access, ownerOf }: Particulars, condition = ''): void {
    operation(server, {
      method: 'POST',
      url,
      operationId: `Create${name}`,
      summary: `Create ${what}`,
      description: `The answer is the only one that shows the key.${condition}`,
      surface: 'users',
      access,
      rateLimit: 'users_write',
      schema: {
        params: Type.Object(pathFields),
        body: ApplicationKeyCreateBody,
        response: { 201: applicationKeySchemas.minted },
      },
      async handler(request, reply) {
        const userId = pathId<'User'>('User', (await ownerOf(request)) ?? '')
        const { name, scopes = null } = request.body.data.attributes
        const key = await credentials.createApplicationKey(
          callerOf(request),
          { userId, name, scopes },
          clientOf(request),
          keepMadeKey(request, applicationKeyToWire),
        )
        return reply.code(201).send({ data: withSecret(applicationKeyToWire(key), key.plain) })
      },
    })
  }

  const own: Particulars = {
    url: '/api/v2/current_user/application_keys',
    name: 'CurrentUserApplicationKey',
    pathFields: {},
    what: "one of the caller's own application keys",
    several: "the caller's own application keys",
    access: 'user_app_keys',
    ownerOf: ownKeys,
  }
  const ofServiceAccount: Particulars = {
    url: '/api/v2/service_accounts/:service_account_id/application_keys',
    name: 'ServiceAccountApplicationKey',
    pathFields: { service_account_id: Type.String() },
    what: 'an application key of a service account',
    several: 'the application keys of a service account',
    access: 'service_account_write',
    async ownerOf(request) {
      const { service_account_id: id } = request.params as { service_account_id: string }
      return (await requireServiceAccount(deps.db, callerOf(request), pathId('Service account', id))).id
    },
  }
  const everybodys: Particulars = {
    url: '/api/v2/application_keys',
    name: 'ApplicationKey',
    pathFields: {},
    what: 'an application key of anybody in the organization',
    several: 'the application keys of everybody in the organization',
    access: 'org_app_keys_manage',
    ownerOf: async () => null,
  }
  for (const particulars of [own, ofServiceAccount, everybodys]) ownedKeyRoutes(server, place(particulars))
  createRoute(own, ' In a session it needs a sign-in within the last 10 minutes.')
  createRoute(ofServiceAccount)
}
