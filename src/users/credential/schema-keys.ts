/** API keys, application keys and personal access tokens as they travel. */
import { type Static, Type } from 'typebox'
import { isPermissionName, PERMISSIONS } from '../../platform/auth/permissions.ts'
import type { UserId } from '../../platform/auth/principal.ts'
import { toRfc3339, toRfc3339OrNull } from '../../platform/clock/clock.ts'
import { shownId } from '../../platform/ids/shown-id.ts'
import { bodyOf, filterField, label, pageFields, sortField } from '../schema-fields.ts'
import { PageMeta, reference } from '../wire.ts'
import type { AccessToken, ApiKey, ApplicationKey } from './credential.ts'

const time = () => Type.String({ format: 'date-time' })
const timeOrNull = () => Type.Union([time(), Type.Null()])
const secret = { key: Type.String({ description: 'The secret; it is shown this once.' }) }
const owner = { owned_by: Type.Object({ data: reference('users') }) }
const name = label('What it is for.')
const PERMISSION_NAMES = PERMISSIONS.map((permission) => permission.name)

const scopes = Type.Optional(
  Type.Refine(
    Type.Union([Type.Array(Type.String({ documented: { enum: PERMISSION_NAMES } })), Type.Null()], {
      description: 'Permissions it is narrowed to; null for all that its owner has.',
    }),
    (names) => unknownScope(names) === undefined,
    (names) => `holds "${shownId(unknownScope(names) ?? '')}", which is not a permission`,
  ),
)

// What is no list of texts is the schema's matter.
function unknownScope(names: unknown): string | undefined {
  return Array.isArray(names) ? names.find((name) => typeof name === 'string' && !isPermissionName(name)) : undefined
}

const expiry = Type.Refine(
  Type.String({ format: 'date-time', description: 'At most one year ahead.' }),
  (text) => !Number.isNaN(Date.parse(text)),
  () => 'is not a valid RFC 3339 time',
)

function resource<const Name extends string, A extends Type.TProperties, R extends Type.TProperties>(
  type: Name,
  attributes: A,
  relationships: R,
) {
  const parts = { type: Type.Literal(type), id: Type.String(), relationships: Type.Object(relationships) }
  const one = Type.Object({ ...parts, attributes: Type.Object(attributes) })
  const minted = Type.Object({ ...parts, attributes: Type.Object({ ...attributes, ...secret }) })
  return {
    document: Type.Object({ data: one }),
    minted: Type.Object({ data: minted }),
    list: Type.Object({ data: Type.Array(one), meta: PageMeta }),
  }
}

const shared = {
  name: Type.String(),
  created_at: time(),
  last4: Type.String(),
}
const owned = { ...shared, scopes: Type.Union([Type.Array(Type.String()), Type.Null()]), last_used_at: timeOrNull() }

export const applicationKeySchemas = resource('application_keys', owned, owner)
export const tokenSchemas = resource(
  'personal_access_tokens',
  { ...owned, public_portion: Type.String(), expires_at: timeOrNull() },
  owner,
)
export const apiKeySchemas = resource(
  'api_keys',
  { ...shared, modified_at: time() },
  { created_by: Type.Optional(owner.owned_by), modified_by: Type.Optional(owner.owned_by) },
)

function updateBody<const Name extends string, A extends Type.TProperties>(type: Name, attributes: A) {
  return Type.Object({
    data: Type.Object({
      type: Type.Literal(type),
      id: Type.String({ description: 'The same as in the path.' }),
      attributes: Type.Object(attributes),
    }),
  })
}

export const ApplicationKeyCreateBody = bodyOf('application_keys', { name, scopes })
export const TokenCreateBody = bodyOf('personal_access_tokens', { name, scopes, expires_at: expiry })
export const ApiKeyCreateBody = bodyOf('api_keys', { name })

const changeable = { name: Type.Optional(name), scopes }
export const ApplicationKeyUpdateBody = updateBody('application_keys', changeable)
export const TokenUpdateBody = updateBody('personal_access_tokens', changeable)
export const ApiKeyUpdateBody = updateBody('api_keys', { name })

export const ApplicationKeyListQuery = Type.Object({
  ...pageFields,
  sort: sortField(['name', 'created_at', 'last4']),
  filter: filterField,
})
export const TokenListQuery = Type.Object({
  ...pageFields,
  sort: sortField(['name', 'created_at', 'last4', 'expires_at', 'last_used_at']),
  filter: filterField,
})
export const ApiKeyListQuery = Type.Object({
  ...pageFields,
  sort: sortField(['name', 'created_at', 'modified_at', 'last4']),
  filter: filterField,
})

export function applicationKeyToWire(key: ApplicationKey): Static<typeof applicationKeySchemas.document>['data'] {
  return { type: 'application_keys', id: key.id, attributes: ownedAttributes(key), relationships: ownedBy(key) }
}

export function tokenToWire(token: AccessToken): Static<typeof tokenSchemas.document>['data'] {
  return {
    type: 'personal_access_tokens',
    id: token.id,
    attributes: {
      ...ownedAttributes(token),
      public_portion: token.publicPortion,
      expires_at: toRfc3339OrNull(token.expiresAt),
    },
    relationships: ownedBy(token),
  }
}

export function apiKeyToWire(key: ApiKey): Static<typeof apiKeySchemas.document>['data'] {
  return {
    type: 'api_keys',
    id: key.id,
    attributes: {
      name: key.name,
      created_at: toRfc3339(key.createdAt),
      modified_at: toRfc3339(key.modifiedAt),
      last4: key.last4,
    },
    // Left out where nobody did it (the command line): typed clients do not take null here.
    relationships: {
      ...(key.createdBy !== null && { created_by: userReference(key.createdBy) }),
      ...(key.modifiedBy !== null && { modified_by: userReference(key.modifiedBy) }),
    },
  }
}

/** The answer to the call that made it: the only one with the secret. */
export function withSecret<W extends { attributes: object }>(wire: W, plain: string) {
  return { ...wire, attributes: { ...wire.attributes, key: plain } }
}

function ownedAttributes(key: ApplicationKey) {
  return {
    name: key.name,
    created_at: toRfc3339(key.createdAt),
    last4: key.last4,
    scopes: key.scopes,
    last_used_at: toRfc3339OrNull(key.lastUsedAt),
  }
}

function ownedBy(key: ApplicationKey) {
  return { owned_by: userReference(key.userId) }
}

function userReference(id: UserId) {
  return { data: { id, type: 'users' as const } }
}
