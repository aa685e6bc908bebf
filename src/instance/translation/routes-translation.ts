import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { operation } from '../../platform/http/operation.ts'
import { adminOperation, under } from '../admin-operations.ts'
import { remoteFailure } from './remote-failure.ts'
import type { TranslationService } from './translation-service.ts'

export const TranslationLanguagesDocument = Type.Record(Type.String(), Type.Array(Type.String()))

export function translationRoutes(
  server: FastifyInstance,
  translation: TranslationService,
  rateLimit: readonly RateRule[],
): void {
  operation(server, {
    method: 'POST',
    ...under('/api/v1/admin/instance/translation_languages/refresh'),
    operationId: 'RefreshTranslationLanguages',
    summary: 'Ask the translation service for its languages now',
    description: 'Answers the new list. 503 when the service cannot be reached; the last good list stays.',
    ...adminOperation(rateLimit),
    schema: { response: { 200: TranslationLanguagesDocument } },
    async handler(request, reply) {
      const languages = await translation.refresh(callerOf(request), clientOf(request))
      return languages ?? remoteFailure(reply)
    },
  })
}
