/** What the operations on users take and answer. */
import { type Static, Type } from 'typebox'
import type { UserStatus } from '../../platform/auth/tables.ts'
import { parseEmail } from '../../platform/text/email.ts'
import { pageOf, sortOf } from '../page.ts'
import { idList, pageFields, sortField } from '../schema-fields.ts'
import { PermissionResource } from '../wire.ts'
import type { UserQuery } from './list-users.ts'
import type { UserSort } from './store-user-list.ts'
import { profileTextProblem } from './user.ts'
import type { NewUser } from './user-service.ts'

export const UserPath = Type.Object({ user_id: Type.String() })

const Email = Type.Refine(
  Type.String({ description: 'Stored in lower case.', documented: { format: 'idn-email' } }),
  (text) => parseEmail(text) !== undefined,
  () => 'is not a valid email address',
)

const ProfileText = Type.Optional(
  Type.Refine(
    Type.Union([Type.String(), Type.Null()], { description: 'Null for none.' }),
    (text) => textProblem(text) === undefined,
    (text) => textProblem(text) ?? '',
  ),
)

// What is no text at all is the schema's matter.
function textProblem(text: unknown): string | undefined {
  return typeof text === 'string' ? profileTextProblem(text) : undefined
}

const profile = { name: ProfileText, title: ProfileText }
const MOST_ROLES = 1_000

export const UserCreateBody = Type.Object({
  data: Type.Object({
    type: Type.Literal('users'),
    attributes: Type.Object({ email: Email, ...profile }),
    relationships: Type.Optional(
      Type.Object({
        roles: Type.Optional(
          Type.Object({
            data: Type.Optional(
              Type.Array(Type.Object({ id: Type.String(), type: Type.Literal('roles') }), { maxItems: MOST_ROLES }),
            ),
          }),
        ),
      }),
    ),
  }),
})

export const UserUpdateBody = Type.Object({
  data: Type.Object({
    type: Type.Literal('users'),
    id: Type.String({ description: 'The same as in the path.' }),
    attributes: Type.Object({
      ...profile,
      email: Type.Optional(Email),
      disabled: Type.Optional(Type.Boolean({ description: 'False enables a disabled user again.' })),
    }),
  }),
})

export function newUserOf({ data }: Static<typeof UserCreateBody>): NewUser {
  const { email, name, title } = data.attributes
  return { email, name, title, roleIds: data.relationships?.roles?.data?.map(({ id }) => id) }
}

export function userUpdateOf({ data }: Static<typeof UserUpdateBody>) {
  const { name, title, email, disabled } = data.attributes
  return { name, title, email, disabled }
}

const STATUSES: readonly UserStatus[] = ['Active', 'Pending', 'Disabled']
const MOST_ROLE_FILTERS = 50

export const UserListQuery = Type.Object({
  ...pageFields,
  sort: sortField([
    'name',
    'modified_at',
    'user_count',
    'email',
    'handle',
    'title',
    'status',
    'created_at',
    'last_login_time',
  ]),
  sort_dir: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      default: 'asc',
      description: 'Without effect when `sort` begins with "-".',
    }),
  ),
  filter: Type.Optional(
    Type.String({ description: 'Part of the name, the email address or the handle, in upper or lower case.' }),
  ),
  'filter[status]': Type.Optional(
    Type.Refine(
      Type.String({ description: 'Active, Pending, Disabled; several separated by commas.' }),
      (text) => itemsOf(text).every((item) => statusOf(item) !== undefined),
      () => `must be one or more of ${STATUSES.join(', ')}, separated by commas`,
    ),
  ),
  'filter[service_account]': Type.Optional(Type.Boolean()),
  'filter[role]': Type.Optional(
    Type.Refine(
      Type.String({ description: 'Ids of roles, separated by commas: whoever has any of them.' }),
      (text) => itemsOf(text).length <= MOST_ROLE_FILTERS,
      () => `must name at most ${MOST_ROLE_FILTERS} roles`,
    ),
  ),
})

export function userQueryOf(query: Static<typeof UserListQuery>): UserQuery {
  const { field, descending } = sortOf<UserSort | 'user_count'>(query.sort ?? 'name')
  const statuses = itemsOf(query['filter[status]']).flatMap((item) => statusOf(item) ?? [])
  return {
    page: pageOf(query),
    // Users have no users: the source offers the order all the same, and it is the one by name.
    order: { sort: field === 'user_count' ? 'name' : field, descending: descending || query.sort_dir === 'desc' },
    filter: query.filter,
    statuses: statuses.length === 0 ? undefined : statuses,
    serviceAccount: query['filter[service_account]'],
    roleIds: idList<'Role'>(query['filter[role]']),
  }
}

function itemsOf(text = ''): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function statusOf(text: string): UserStatus | undefined {
  return STATUSES.find((status) => status.toLowerCase() === text.toLowerCase())
}

export const UserPermissionsDocument = Type.Object({ data: Type.Array(PermissionResource) })
