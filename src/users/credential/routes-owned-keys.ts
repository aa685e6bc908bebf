import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { PermissionName } from '../../platform/auth/permissions.ts'
import type { UserId } from '../../platform/auth/principal.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId, requireSameId } from '../../platform/http/route/path-id.ts'
import { pageOf, sortOf } from '../page.ts'
import { pageMeta } from '../wire.ts'
import type { OwnedCredentials, OwnedCredentialTable, OwnedSort } from './credential.ts'
import type { OwnedKeyService, OwnedKeyUpdate } from './owned-key-service.ts'

/** A path under which keys of one kind are seen, changed and revoked; whoever makes them has an operation of its own. */
export interface KeyPlace<T extends OwnedCredentialTable> {
  url: string
  /** Of the parameters that stand in `url`. */
  pathFields: Record<string, TSchema>
  /** Completes the ids of the operations: `List…s`, `Get…`. */
  name: string
  /** For people: "an application key of a service account", and several of them. */
  what: string
  several: string
  /** For errors: "Application key". */
  noun: string
  access: PermissionName
  keys: OwnedKeyService<T>
  schemas: { document: TSchema; list: TSchema; updateBody: TSchema; listQuery: TSchema }
  /** Whose keys the path is about; null for anybody's. */
  ownerOf(request: FastifyRequest): Promise<UserId | null>
  toWire(key: OwnedCredentials[T]): object
}

interface ListQuery {
  'page[size]'?: number
  'page[number]'?: number
  sort?: OwnedSort | `-${OwnedSort}`
  filter?: string
}

interface UpdateBody {
  data: { id: string; attributes: Omit<OwnedKeyUpdate, 'id'> }
}

export function ownedKeyRoutes<T extends OwnedCredentialTable>(server: FastifyInstance, place: KeyPlace<T>): void {
  const { url, pathFields, name, what, several, noun, access, keys, schemas, ownerOf, toWire } = place
  const one = { url: `${url}/:id`, surface: 'users', access } as const
  const onePath = Type.Object({ ...pathFields, id: Type.String() })
  const idOf = (request: FastifyRequest) => (request.params as { id: string }).id

  operation(server, {
    method: 'GET',
    url,
    operationId: `List${name}s`,
    summary: `List ${several}`,
    surface: 'users',
    access,
    rateLimit: 'users_read',
    schema: { params: Type.Object(pathFields), querystring: schemas.listQuery, response: { 200: schemas.list } },
    async handler(request) {
      const query = request.query as ListQuery
      const list = await keys.list(callerOf(request), await ownerOf(request), {
        page: pageOf(query),
        sort: sortOf<OwnedSort>(query.sort ?? 'name'),
        filter: query.filter,
      })
      return { data: list.items.map(toWire), meta: pageMeta(list) }
    },
  })

  operation(server, {
    method: 'GET',
    operationId: `Get${name}`,
    summary: `Get ${what}`,
    ...one,
    rateLimit: 'users_read',
    schema: { params: onePath, response: { 200: schemas.document } },
    async handler(request) {
      const owner = await ownerOf(request)
      return { data: toWire(await keys.get(callerOf(request), owner, pathId(noun, idOf(request)))) }
    },
  })

  operation(server, {
    method: 'PATCH',
    operationId: `Update${name}`,
    summary: `Rename or narrow ${what}`,
    ...one,
    rateLimit: 'users_write',
    schema: { params: onePath, body: schemas.updateBody, response: { 200: schemas.document } },
    async handler(request) {
      const { id, attributes } = (request.body as UpdateBody).data
      requireSameId(id, idOf(request))
      const owner = await ownerOf(request)
      const update = { id: pathId(noun, idOf(request)), name: attributes.name, scopes: attributes.scopes }
      return { data: toWire(await keys.update(callerOf(request), owner, update, clientOf(request))) }
    },
  })

  operation(server, {
    method: 'DELETE',
    operationId: `Delete${name}`,
    summary: `Revoke ${what}`,
    ...one,
    rateLimit: 'users_write',
    schema: { params: onePath, response: { 204: null } },
    async handler(request, reply) {
      const owner = await ownerOf(request)
      await keys.revoke(callerOf(request), owner, pathId(noun, idOf(request)), clientOf(request))
      return reply.code(204).send()
    },
  })
}

/** The caller's own keys; the server itself has none. */
export async function ownKeys(request: FastifyRequest): Promise<UserId> {
  return pathId<'User'>('User', callerOf(request).userId ?? 'without an id')
}
