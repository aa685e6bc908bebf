import type { FastifyInstance } from 'fastify'
import { anonymizeRoutes } from './anonymize/routes-anonymize.ts'
import { exportRoutes } from './anonymize/routes-export.ts'
import { auditRoutes } from './audit/routes-audit.ts'
import { apiKeyRoutes } from './credential/routes-api-keys.ts'
import { applicationKeyRoutes } from './credential/routes-application-keys.ts'
import { serviceAccountRoutes } from './credential/routes-service-accounts.ts'
import { tokenRoutes } from './credential/routes-tokens.ts'
import type { UsersDeps } from './deps.ts'
import { emailVerificationRoutes } from './invitation/routes-email-verification.ts'
import { invitationRoutes } from './invitation/routes-invitations.ts'
import { deliverMails } from './mail/deliver-mails.ts'
import { pageRoutes } from './pages/routes-pages.ts'
import { usersPersonalData } from './personal-data.ts'
import { permissionRoutes } from './role/routes-permissions.ts'
import { rolePermissionRoutes } from './role/routes-role-permissions.ts'
import { roleUserRoutes } from './role/routes-role-users.ts'
import { roleRoutes } from './role/routes-roles.ts'
import { authRoutes } from './sign-in/routes-auth.ts'
import { UserLister } from './user/list-users.ts'
import { userRoutes } from './user/routes-users.ts'
import { SearchIndexer } from './user/search-indexer.ts'

/** The table of contents of the users surface. */
export function registerUsers(server: FastifyInstance, deps: UsersDeps): void {
  if (deps.settings.login_methods.includes('oidc')) {
    deps.log.warn(
      'users.login_methods names oidc, which this version does not have: people sign in by password or not at all',
    )
  }
  const indexer = new SearchIndexer(deps)
  const lister = new UserLister({ ...deps, onUnindexed: () => void indexer.run() })
  deps.personalData.join(...usersPersonalData(deps))
  anonymizeRoutes(server, deps)
  auditRoutes(server, deps)
  authRoutes(server, deps)
  deliverMails(deps)
  emailVerificationRoutes(server, deps)
  exportRoutes(server, deps)
  invitationRoutes(server, deps)
  apiKeyRoutes(server, deps)
  applicationKeyRoutes(server, deps)
  pageRoutes(server, deps)
  permissionRoutes(server, deps)
  rolePermissionRoutes(server, deps)
  roleRoutes(server, deps)
  tokenRoutes(server, deps)
  roleUserRoutes(server, deps, lister)
  serviceAccountRoutes(server, deps)
  userRoutes(server, deps, lister, indexer)
}
