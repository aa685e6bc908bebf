import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { UserId } from '../../platform/auth/principal.ts'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { operation } from '../../platform/http/operation.ts'
import { parseId } from '../../platform/ids/uuid.ts'
import type { UsersDeps } from '../deps.ts'
import { type Anonymization, AnonymizeService } from './anonymize-service.ts'

const AnonymizeBody = Type.Object({
  data: Type.Object({
    type: Type.Literal('anonymize_users_request'),
    attributes: Type.Object({
      user_ids: Type.Array(
        Type.Refine(
          Type.String({ documented: { format: 'uuid' } }),
          (text) => parseId(text) !== undefined,
          () => 'is not a valid UUID',
        ),
        { minItems: 1, maxItems: 100 },
      ),
    }),
  }),
  meta: Type.Optional(
    Type.Object({ dry_run: Type.Optional(Type.Boolean({ description: 'Only say what would happen.' })) }),
  ),
})

const AnonymizeDocument = Type.Object({
  data: Type.Object({
    type: Type.Literal('anonymize_users_response'),
    id: Type.String(),
    attributes: Type.Object({
      anonymize_errors: Type.Array(Type.Object({ error: Type.String(), user_id: Type.String() })),
      anonymized_user_ids: Type.Array(Type.String()),
    }),
  }),
  meta: Type.Optional(Type.Object({ dry_run: Type.Boolean() })),
})

export function anonymizeRoutes(server: FastifyInstance, deps: UsersDeps): void {
  const service = new AnonymizeService(deps)
  service.registerJobs()

  operation(server, {
    method: 'PUT',
    url: '/api/v2/anonymize_users',
    operationId: 'AnonymizeUsers',
    summary: 'Erase everything that names the given users, for ever',
    description: 'Each user succeeds or fails alone. With meta.dry_run nothing is changed.',
    surface: 'users',
    access: 'user_access_manage',
    rateLimit: 'anonymize',
    schema: { body: AnonymizeBody, response: { 200: AnonymizeDocument } },
    async handler(request) {
      const { data, meta } = request.body
      const ids = data.attributes.user_ids.map((text) => parseId<'User'>(text) as UserId)
      const caller = callerOf(request)
      if (meta?.dry_run !== true) return toWire(await service.anonymize(caller, ids))
      return { ...toWire(await service.rehearse(caller, ids)), meta: { dry_run: true } }
    },
  })
}

function toWire({ id, anonymized, errors }: Anonymization) {
  return {
    data: {
      type: 'anonymize_users_response' as const,
      id,
      attributes: {
        anonymize_errors: errors.map(({ userId, error }) => ({ error, user_id: userId })),
        anonymized_user_ids: anonymized,
      },
    },
  }
}
