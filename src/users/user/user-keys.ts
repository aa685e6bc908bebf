import type { UserStatus } from '../../platform/auth/tables.ts'
import { foldedText } from '../../platform/text/folded-text.ts'
import type { User, UserGroup } from './user.ts'

/** Sorts after every text: a missing name or title comes last when ascending. */
const LAST = '\u{10FFFF}'
const NEVER = Number.MAX_SAFE_INTEGER

// Cannot be typed into a name, so no filter matches across two fields.
const FIELD_END = '\u001f'

export interface UserKeys {
  name_key: string
  title_key: string
  email_key: string
  handle_key: string
  own_handle: 0 | 1
  login_key: number
  list_group: number
  search_text: string
}

/**
 * What a list of users is sorted and searched by. Neither engine folds case beyond ASCII in the same way, so the folded
 * form is stored; both compare it by code points. A search also passes over the form in which an accent was typed.
 */
export function userKeys(user: Omit<User, 'id' | 'modifiedAt'>): UserKeys {
  const name = user.name?.toLowerCase()
  const email = user.email.toLowerCase()
  const handle = user.handle.toLowerCase()
  return {
    name_key: name ?? LAST,
    title_key: user.title?.toLowerCase() ?? LAST,
    email_key: email,
    handle_key: handle,
    own_handle: handle === email ? 0 : 1,
    login_key: user.lastLoginAt ?? NEVER,
    list_group: listGroup(user),
    // A handle that is the address would be found a second time for nothing.
    search_text: foldedText(`${name ?? ''}${FIELD_END}${email}${handle === email ? '' : `${FIELD_END}${handle}`}`),
  }
}

const STATUSES: readonly UserStatus[] = ['Active', 'Disabled', 'Pending']
const ORGANIZATION_DIGITS = 11

/**
 * Users of one organization, status and kind, as one number: indexes begin with it, and three columns there would make
 * them twice as large. The organization is the end of its id, 44 random bits; whoever lists users asks for the id as well.
 */
export function listGroup({ organizationId, status, serviceAccount }: UserGroup): number {
  const organization = Number.parseInt(organizationId.slice(-ORGANIZATION_DIGITS), 16)
  return organization * 8 + STATUSES.indexOf(status) * 2 + (serviceAccount ? 1 : 0)
}

/** The folded text to look for; undefined when nothing can match it. */
export function searchFor(filter: string): string | undefined {
  const text = foldedText(filter.trim())
  // PostgreSQL would refuse the second, and no name holds either.
  return text.includes(FIELD_END) || text.includes('\0') ? undefined : text
}

/** The same for what has one name only: a role, a key, a token. */
export function nameKey(name: string): string {
  return name.toLowerCase()
}
