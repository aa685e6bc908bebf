import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { JSON_TYPE } from '../../platform/http/answer/send-hook.ts'
import { selfOr } from '../../platform/http/entry/access.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { whileAllowed } from '../../platform/http/entry/still-allowed.ts'
import { operation } from '../../platform/http/operation.ts'
import { pathId } from '../../platform/http/route/path-id.ts'
import type { Person } from '../../platform/personal-data/personal-data.ts'
import type { UsersDeps } from '../deps.ts'
import { requireUser } from '../look-up.ts'

const PersonalDataDocument = Type.Object({
  data: Type.Object({
    type: Type.Literal('personal_data'),
    id: Type.String(),
    attributes: Type.Object({ exported_at: Type.String({ format: 'date-time' }) }, { additionalProperties: true }),
  }),
})

export function exportRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const { db, clock } = deps

  operation(server, {
    method: 'GET',
    url: '/api/v2/users/:user_id/export',
    operationId: 'ExportPersonalData',
    summary: 'Get everything that is kept about a user',
    description:
      'Secrets and their hashes are not part of it; nor, in audit events about anything but the user, the old and new values.',
    surface: 'users',
    access: selfOr('user_access_manage', 'user_id'),
    rateLimit: 'users_read',
    cacheControl: 'private, no-store',
    schema: { params: Type.Object({ user_id: Type.String() }), response: { 200: PersonalDataDocument } },
    async handler(request, reply) {
      const user = await requireUser(db, callerOf(request), pathId<'User'>('User', request.params.user_id))
      reply.header('content-type', JSON_TYPE)
      reply.header('content-disposition', `attachment; filename="personal-data-${user.id}.json"`)
      return reply.send(Readable.from(whileAllowed(request, documentOf(user))))
    },
  })

  /** Piece by piece: somebody may have done a million things. */
  async function* documentOf(user: Person): AsyncGenerator<string> {
    const start = { type: 'personal_data', id: user.id, attributes: { exported_at: toRfc3339(clock.now()) } }
    yield `{"data":${JSON.stringify(start).slice(0, -2)},`
    yield* deps.personalData.exportMembers(db, user)
    yield '}}}'
  }
}
