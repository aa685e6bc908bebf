import type { PermissionName } from '../../src/platform/auth/permissions.ts'

/**
 * Who may call an operation, as the contract says it and not as the code does:
 * - `public`: anybody; credentials are not looked at
 * - `session`: whoever has a session; everybody else is answered 401, whatever they sent
 * - `signed_in`: any good credentials
 * - a permission; or one of several, the first being the one that is named to the refused
 * - `own`: a session of the user, or `user_self_profile_write` by a token or key that is not narrowed
 * - `self`: the user of the path itself, or the permission
 */
export type Rule =
  | 'public'
  | 'session'
  | 'signed_in'
  | 'own'
  | PermissionName
  | readonly [PermissionName, PermissionName]
  | { self: PermissionName }

export interface UsersOperation {
  rule: Rule
  /**
   * What somebody is answered who may call it with ids that nobody has and the body below. It changes nothing, so that
   * everybody can try it, and shows that the permission is judged before the input and before any look-up.
   */
  passed: number
  body?: unknown
}

const READ = 'user_access_read'
const INVITE = 'user_access_invite'
const MANAGE = 'user_access_manage'
const ACCOUNTS = 'service_account_write'
const OWN_KEYS = 'user_app_keys'
const ALL_KEYS = 'org_app_keys_manage'

const list = (rule: Rule): UsersOperation => ({ rule, passed: 200 })
const find = (rule: Rule): UsersOperation => ({ rule, passed: 404 })
/** With a body that has nothing of what it must have. */
const send = (rule: Rule): UsersOperation => ({ rule, passed: 400, body: {} })

/** Every operation of the users surface; one that is missing here fails the authorization test. */
export const USERS_OPERATIONS: Readonly<Record<string, UsersOperation>> = {
  'GET /api/v2/users': list(READ),
  'POST /api/v2/users': send(INVITE),
  'GET /api/v2/users/{user_id}': find({ self: READ }),
  'PATCH /api/v2/users/{user_id}': send([MANAGE, ACCOUNTS]),
  'DELETE /api/v2/users/{user_id}': find([MANAGE, ACCOUNTS]),
  'GET /api/v2/users/{user_id}/orgs': find({ self: READ }),
  'GET /api/v2/users/{user_id}/permissions': find({ self: READ }),
  'GET /api/v2/users/{user_id}/icon': { rule: 'public', passed: 200 },
  'GET /api/v2/users/{user_id}/export': find({ self: MANAGE }),
  'GET /api/v2/current_user': list('signed_in'),
  'PATCH /api/v2/current_user': send('user_self_profile_write'),
  'PUT /api/v2/anonymize_users': send(MANAGE),
  'GET /api/v2/audit/events': list('audit_logs_read'),

  'GET /api/v2/user_invitations': list(INVITE),
  'POST /api/v2/user_invitations': send(INVITE),
  'GET /api/v2/user_invitations/{user_invitation_uuid}': find(INVITE),
  'DELETE /api/v2/users/{user_id}/invitations': find(INVITE),
  'POST /api/v2/user_invitations/lookup': send('public'),
  'POST /api/v2/user_invitations/accept': send('public'),

  'GET /api/v2/permissions': list(READ),
  'GET /api/v2/roles': list(READ),
  'POST /api/v2/roles': send(MANAGE),
  'GET /api/v2/roles/templates': list(READ),
  'GET /api/v2/roles/{role_id}': find(READ),
  'PATCH /api/v2/roles/{role_id}': send(MANAGE),
  'DELETE /api/v2/roles/{role_id}': find(MANAGE),
  'POST /api/v2/roles/{role_id}/clone': send(MANAGE),
  'GET /api/v2/roles/{role_id}/permissions': find(READ),
  'POST /api/v2/roles/{role_id}/permissions': send(MANAGE),
  'DELETE /api/v2/roles/{role_id}/permissions': send(MANAGE),
  'GET /api/v2/roles/{role_id}/users': find(READ),
  'POST /api/v2/roles/{role_id}/users': send(MANAGE),
  'DELETE /api/v2/roles/{role_id}/users': send(MANAGE),

  'POST /api/v2/service_accounts': send(ACCOUNTS),
  'GET /api/v2/service_accounts/{service_account_id}/application_keys': find(ACCOUNTS),
  'POST /api/v2/service_accounts/{service_account_id}/application_keys': send(ACCOUNTS),
  'GET /api/v2/service_accounts/{service_account_id}/application_keys/{id}': find(ACCOUNTS),
  'PATCH /api/v2/service_accounts/{service_account_id}/application_keys/{id}': send(ACCOUNTS),
  'DELETE /api/v2/service_accounts/{service_account_id}/application_keys/{id}': find(ACCOUNTS),
  'GET /api/v2/current_user/application_keys': list(OWN_KEYS),
  'POST /api/v2/current_user/application_keys': send(OWN_KEYS),
  'GET /api/v2/current_user/application_keys/{id}': find(OWN_KEYS),
  'PATCH /api/v2/current_user/application_keys/{id}': send(OWN_KEYS),
  'DELETE /api/v2/current_user/application_keys/{id}': find(OWN_KEYS),
  'GET /api/v2/application_keys': list(ALL_KEYS),
  'GET /api/v2/application_keys/{id}': find(ALL_KEYS),
  'PATCH /api/v2/application_keys/{id}': send(ALL_KEYS),
  'DELETE /api/v2/application_keys/{id}': find(ALL_KEYS),
  'GET /api/v2/api_keys': list('api_keys_read'),
  'POST /api/v2/api_keys': send('api_keys_write'),
  'GET /api/v2/api_keys/{id}': find('api_keys_read'),
  'PATCH /api/v2/api_keys/{id}': send('api_keys_write'),
  'DELETE /api/v2/api_keys/{id}': find('api_keys_write'),
  'GET /api/v2/personal_access_tokens': list(OWN_KEYS),
  'POST /api/v2/personal_access_tokens': send(OWN_KEYS),
  'GET /api/v2/personal_access_tokens/{id}': find(OWN_KEYS),
  'PATCH /api/v2/personal_access_tokens/{id}': send(OWN_KEYS),
  'DELETE /api/v2/personal_access_tokens/{id}': find(OWN_KEYS),

  'POST /api/v2/auth/sign_in': send('public'),
  // With a token or key there is no session to sign out of.
  'POST /api/v2/auth/sign_out': { rule: 'signed_in', passed: 400 },
  'GET /api/v2/auth/session': list('session'),
  'POST /api/v2/auth/password_resets': send('public'),
  'POST /api/v2/auth/password_resets/confirm': send('public'),
  'POST /api/v2/auth/email_verifications/confirm': send('public'),
  'PATCH /api/v2/current_user/password': send('signed_in'),
  'POST /api/v2/current_user/totp': { rule: 'own', passed: 201 },
  'POST /api/v2/current_user/totp/confirm': send('own'),
  'DELETE /api/v2/current_user/totp': find('own'),
  'DELETE /api/v2/users/{user_id}/totp': find(MANAGE),
  'GET /api/v2/users/{user_id}/sessions': find({ self: MANAGE }),
  'DELETE /api/v2/users/{user_id}/sessions': find({ self: MANAGE }),
  'DELETE /api/v2/users/{user_id}/sessions/{session_id}': find({ self: MANAGE }),
}

/** The permissions that let somebody pass, whoever that is; empty where it does not depend on them. */
export function permissionsOf(rule: Rule): readonly PermissionName[] {
  if (rule === 'public' || rule === 'session' || rule === 'signed_in') return []
  if (rule === 'own') return ['user_self_profile_write']
  if (typeof rule === 'string') return [rule]
  return 'self' in rule ? [rule.self] : rule
}
