import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { callerOf } from '../../platform/http/entry/caller-of.ts'
import { clientOf } from '../../platform/http/entry/client-of.ts'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { operation } from '../../platform/http/operation.ts'
import { adminOperation, recordId, under } from '../admin-operations.ts'
import type { RuleService } from './rule-service.ts'
import { ChangedRule, NewRule, RuleDocument, RuleList, RuleMove, RulePath, ruleToJson } from './schema-rules.ts'

const LIST = '/api/v1/admin/instance/rules'
const ONE = `${LIST}/:id`

export function ruleRoutes(server: FastifyInstance, rules: RuleService, rateLimit: readonly RateRule[]): void {
  const admin = adminOperation(rateLimit)

  operation(server, {
    method: 'GET',
    ...under(LIST),
    operationId: 'ListInstanceRules',
    summary: 'List the rules of the instance in order',
    ...admin,
    schema: { response: { 200: RuleList } },
    async handler(request) {
      return (await rules.list(callerOf(request))).map(ruleToJson)
    },
  })

  operation(server, {
    method: 'POST',
    ...under(LIST),
    operationId: 'CreateInstanceRule',
    summary: 'Add a rule',
    description: 'Without a priority it comes last.',
    ...admin,
    schema: { body: NewRule, response: { 200: RuleDocument } },
    async handler(request) {
      return ruleToJson(await rules.create(callerOf(request), request.body, clientOf(request)))
    },
  })

  operation(server, {
    method: 'PUT',
    url: ONE,
    operationId: 'UpdateInstanceRule',
    summary: 'Change a rule',
    description: 'What is absent stays; translations are replaced as a whole.',
    ...admin,
    schema: { params: RulePath, body: ChangedRule, response: { 200: RuleDocument } },
    async handler(request) {
      const input = { id: recordId(request.params.id), wish: request.body }
      return ruleToJson(await rules.update(callerOf(request), input, clientOf(request)))
    },
  })

  operation(server, {
    method: 'DELETE',
    url: ONE,
    operationId: 'DeleteInstanceRule',
    summary: 'Delete a rule',
    description: 'Its id is never used again.',
    ...admin,
    schema: { params: RulePath, response: { 200: Type.Object({}) } },
    async handler(request) {
      await rules.delete(callerOf(request), { id: recordId(request.params.id) }, clientOf(request))
      return {}
    },
  })

  operation(server, {
    method: 'POST',
    ...under(`${ONE}/move`),
    operationId: 'MoveInstanceRule',
    summary: 'Move a rule up or down',
    ...admin,
    schema: { params: RulePath, body: RuleMove, response: { 200: RuleDocument } },
    async handler(request) {
      const input = { id: recordId(request.params.id), offset: request.body.offset }
      return ruleToJson(await rules.move(callerOf(request), input, clientOf(request)))
    },
  })
}
