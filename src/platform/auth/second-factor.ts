import type { PermissionName } from './permissions.ts'

/** Who needs a second factor to sign in. */
export type MfaPolicy = 'off' | 'admins' | 'all'

/**
 * Whether somebody who signed in with a password alone should have had a second factor as well. Such a session is
 * given no permissions, so that it can do what a user without roles can: look at itself, enrol a second factor, sign
 * out. As soon as one is confirmed the same session has all the permissions of its user. Judged with every look-up, so a
 * stricter policy also holds for sessions that exist already. Tokens and keys are not sign-ins.
 */
export function lacksSecondFactor(
  policy: MfaPolicy,
  user: { permissions: readonly PermissionName[]; hasSecondFactor: boolean },
): boolean {
  if (policy === 'off' || user.hasSecondFactor) return false
  return policy === 'all' || user.permissions.includes('admin')
}
