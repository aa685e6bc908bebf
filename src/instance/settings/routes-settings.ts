import type { FastifyInstance } from 'fastify'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { bodyParser } from '../../platform/http/input/body-parser.ts'
import { parseJsonBody } from '../../platform/http/input/json-body.ts'
import { operation } from '../../platform/http/operation.ts'
import { adminOperation, under } from '../admin-operations.ts'
import { SettingSources, SettingsDocument, SettingsPatch } from './schema-settings.ts'
import type { SettingsService } from './settings-service.ts'

const PATH = '/api/v1/admin/instance'
const MERGE_PATCH = 'application/merge-patch+json'

export function settingsRoutes(
  server: FastifyInstance,
  settings: SettingsService,
  rateLimit: readonly RateRule[],
): void {
  const admin = adminOperation(rateLimit)

  operation(server, {
    method: 'GET',
    ...under(PATH),
    operationId: 'GetInstanceSettings',
    summary: 'Get the settings of the instance that are in effect',
    ...admin,
    schema: { response: { 200: SettingsDocument } },
    async handler(request) {
      return settings.get(callerOf(request))
    },
  })

  operation(server, {
    method: 'GET',
    ...under(`${PATH}/sources`),
    operationId: 'GetInstanceSettingSources',
    summary: 'Get where each setting of the instance has its value from',
    ...admin,
    schema: { response: { 200: SettingSources } },
    async handler(request) {
      return settings.sources(callerOf(request))
    },
  })

  server.register((scope, _options, done) => {
    scope.addContentTypeParser(MERGE_PATCH, { parseAs: 'buffer' }, bodyParser(parseJsonBody))
    operation(scope, {
      method: 'PATCH',
      ...under(PATH),
      operationId: 'UpdateInstanceSettings',
      summary: 'Change settings of the instance',
      description:
        'What is absent stays. A key that the environment fixes cannot be changed. Another `translation.endpoint` or `translation.provider` needs `translation.api_key` in the same request where there is one.',
      ...admin,
      takes: { [MERGE_PATCH]: { ...SettingsPatch } },
      schema: { body: SettingsPatch, response: { 200: SettingsDocument } },
      async handler(request) {
        return settings.patch(callerOf(request), request.body, clientOf(request))
      },
    })
    done()
  })
}
