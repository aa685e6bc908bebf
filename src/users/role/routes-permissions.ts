import type { FastifyInstance } from 'fastify'
import { PERMISSIONS } from '../../platform/auth/permissions.ts'
import { operation } from '../../platform/http/operation.ts'
import { compareTexts } from '../../platform/text/compare-texts.ts'
import type { UsersDeps } from '../deps.ts'
import { permissionToWire } from '../wire.ts'
import { PermissionListDocument } from './schema-roles.ts'

export function permissionRoutes(server: FastifyInstance, _deps: UsersDeps): void {
  const data = PERMISSIONS.toSorted((a, b) => compareTexts(a.group, b.group) || compareTexts(a.name, b.name)).map(
    permissionToWire,
  )

  operation(server, {
    method: 'GET',
    url: '/api/v2/permissions',
    operationId: 'ListPermissions',
    summary: 'List all permissions',
    surface: 'users',
    access: 'user_access_read',
    rateLimit: 'users_read',
    schema: { response: { 200: PermissionListDocument } },
    handler: async () => ({ data }),
  })
}
