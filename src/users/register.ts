import type { FastifyInstance } from 'fastify'
import type { UsersDeps } from './deps.ts'
import { deliverMails } from './mail/deliver-mails.ts'
import { pageRoutes } from './pages/routes-pages.ts'
import { usersPersonalData } from './personal-data.ts'
import { anonymizeRoutes } from './routes-anonymize.ts'
import { apiKeyRoutes } from './routes-api-keys.ts'
import { applicationKeyRoutes } from './routes-application-keys.ts'
import { auditRoutes } from './routes-audit.ts'
import { authRoutes } from './routes-auth.ts'
import { emailVerificationRoutes } from './routes-email-verification.ts'
import { exportRoutes } from './routes-export.ts'
import { invitationRoutes } from './routes-invitations.ts'
import { permissionRoutes } from './routes-permissions.ts'
import { rolePermissionRoutes } from './routes-role-permissions.ts'
import { roleUserRoutes } from './routes-role-users.ts'
import { roleRoutes } from './routes-roles.ts'
import { serviceAccountRoutes } from './routes-service-accounts.ts'
import { tokenRoutes } from './routes-tokens.ts'
import { userRoutes } from './routes-users.ts'

/** The table of contents of the users surface. */
export function registerUsers(server: FastifyInstance, deps: UsersDeps): void {
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
  roleUserRoutes(server, deps)
  serviceAccountRoutes(server, deps)
  userRoutes(server, deps)
}
