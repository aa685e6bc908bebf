/** What the operations on roles and permissions take and answer. */
import { type Static, Type } from 'typebox'
import { pageOf, sortOf } from '../page.ts'
import { filterField, idList, label, pageFields, sortField } from '../schema-fields.ts'
import { PageMeta, PermissionResource, RoleResource } from '../wire.ts'
import type { RoleWish } from './role.ts'
import type { RoleQuery } from './store-role-list.ts'

export const RolePath = Type.Object({ role_id: Type.String() })

const RoleAttributes = {
  name: label('Need not be unique.'),
  receives_permissions_from: Type.Optional(
    Type.Array(Type.String(), { description: 'Managed roles whose future permissions this role gets as well.' }),
  ),
}

const PermissionsOfRole = Type.Object({
  permissions: Type.Optional(
    Type.Object({
      data: Type.Optional(
        Type.Array(Type.Object({ id: Type.String(), type: Type.Optional(Type.Literal('permissions')) })),
      ),
    }),
  ),
})

export const RoleCreateBody = Type.Object({
  data: Type.Object({
    type: Type.Optional(Type.Literal('roles')),
    attributes: Type.Object(RoleAttributes),
    relationships: Type.Optional(PermissionsOfRole),
  }),
})

export const RoleUpdateBody = Type.Object({
  data: Type.Object({
    type: Type.Literal('roles'),
    id: Type.String({ description: 'The same as in the path.' }),
    attributes: Type.Partial(Type.Object(RoleAttributes)),
    relationships: Type.Optional(PermissionsOfRole),
  }),
})

export const RoleCloneBody = Type.Object({
  data: Type.Object({ type: Type.Literal('roles'), attributes: Type.Object(RoleAttributes) }),
})

function referenceBody<const T extends string>(type: T) {
  return Type.Object({ data: Type.Object({ id: Type.String(), type: Type.Literal(type) }) })
}

export const PermissionReferenceBody = referenceBody('permissions')
export const UserReferenceBody = referenceBody('users')

export const RoleListQuery = Type.Object({
  ...pageFields,
  sort: sortField(['name', 'modified_at', 'user_count']),
  filter: filterField,
  'filter[id]': Type.Optional(Type.String({ description: 'Ids, separated by commas.' })),
})

export const RoleDocument = Type.Object({ data: RoleResource })
export const RoleListDocument = Type.Object({ data: Type.Array(RoleResource), meta: PageMeta })
export const PermissionListDocument = Type.Object({ data: Type.Array(PermissionResource) })

export const RoleTemplateListDocument = Type.Object({
  data: Type.Array(
    Type.Object({
      type: Type.Literal('roles'),
      id: Type.String(),
      attributes: Type.Object({ name: Type.String(), description: Type.String() }),
    }),
  ),
})

/** What a body says about a role; what it does not say is absent. */
export function roleWish({ data }: Static<typeof RoleUpdateBody> | { data: WishData }): RoleWish {
  return {
    name: data.attributes.name,
    receivesPermissionsFrom: data.attributes.receives_permissions_from,
    permissionIds: data.relationships?.permissions?.data?.map(({ id }) => id),
  }
}

type WishData = Omit<Static<typeof RoleUpdateBody>['data'], 'type' | 'id'>

export function roleQuery(query: Static<typeof RoleListQuery>): RoleQuery {
  return {
    page: pageOf(query),
    sort: sortOf(query.sort ?? 'name'),
    filter: query.filter,
    ids: idList<'Role'>(query['filter[id]']),
  }
}
