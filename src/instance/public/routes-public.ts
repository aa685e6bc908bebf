import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { RateRule } from '../../platform/http/entry/rate-rules.ts'
import { operation } from '../../platform/http/operation.ts'
import type { SentHeader } from '../../platform/http/operation-options.ts'
import { under } from '../admin-operations.ts'
import { instanceDomain } from '../instance-domain.ts'
import { recordNotFound } from '../invalid.ts'
import { remoteFailure } from '../translation/remote-failure.ts'
import { TranslationLanguagesDocument } from '../translation/routes-translation.ts'
import type { TranslationService } from '../translation/translation-service.ts'
import type { InstanceFace, InstanceView } from './instance-face.ts'
import type { PublicBodies } from './public-bodies.ts'
import { requireUser, USER_REQUIRED } from './require-user.ts'
import {
  InstanceText,
  InstanceV1Document,
  InstanceV2Document,
  LanguageList,
  RuleList,
  TermsOfService,
} from './schema-public.ts'
import { FOR_EVERYBODY, FOR_THIS_CALLER, sendBody } from './send-body.ts'

export interface PublicRouteParts {
  face: InstanceFace
  bodies: PublicBodies
  translation: TranslationService
  rateLimit: readonly RateRule[]
  baseUrl(): string
}

/** Undefined when the bytes are with the socket already; the reply when the framework still has to send it. */
export type Answer = FastifyReply | Promise<FastifyReply | undefined> | undefined

/** A view that is there is used at once: a promise would cost more than the answer. */
export function withView(view: InstanceView | Promise<InstanceView>, answer: (view: InstanceView) => Answer): Answer {
  return view instanceof Promise ? view.then(answer) : answer(view)
}

export interface PublicOperation {
  path: string
  operationId: string
  summary: string
  description?: string
  schema: TSchema
  deprecated?: boolean
  /** Whether there is a setting that hides it: then it is 404 without a body. */
  canBeHidden?: true
  /** Beside the tag that they all have. */
  sends?: readonly SentHeader[]
  handler(request: FastifyRequest, reply: FastifyReply): Answer
}

/** No body, and no type that a client would try to parse. */
export const HIDDEN = { 404: null } as const

export function publicOperation(
  server: FastifyInstance,
  rateLimit: readonly RateRule[],
  { path, schema, canBeHidden, sends = [], ...rest }: PublicOperation,
): void {
  operation(server, {
    method: 'GET',
    ...under(path),
    ...rest,
    tags: ['instance'],
    surface: 'instance',
    access: 'bearer',
    rateLimit,
    sends: ['ETag', ...sends],
    schema: { response: canBeHidden ? { 200: schema, ...HIDDEN } : { 200: schema } },
  })
}

/** What is always public, and the two writings of the instance itself. */
export function publicRoutes(server: FastifyInstance, parts: PublicRouteParts): void {
  const { face, bodies, rateLimit } = parts
  const add = (one: PublicOperation) => publicOperation(server, rateLimit, one)

  add({
    path: '/api/v2/instance',
    operationId: 'GetInstance',
    summary: 'Read what this server is',
    schema: InstanceV2Document,
    handler: (request, reply) => withView(face.counted(), (view) => sendBody(request, reply, bodies.v2(view))),
  })
  add({
    path: '/api/v1/instance',
    operationId: 'GetInstanceV1',
    summary: 'Read what this server is, as older clients expect it',
    description: 'In whitelist mode for users only. GET /api/v2/instance takes its place.',
    schema: InstanceV1Document,
    deprecated: true,
    sends: ['Link', 'Deprecation'],
    handler: (request, reply) => withView(face.counted(), (view) => sendV1(parts, view, request, reply)),
  })
  add({
    path: '/api/v1/instance/rules',
    operationId: 'GetInstanceRules',
    summary: 'List the rules of this server',
    schema: RuleList,
    handler: (request, reply) => withView(face.settled(), (view) => sendBody(request, reply, bodies.rules(view))),
  })
  add({
    path: '/api/v1/instance/languages',
    operationId: 'GetInstanceLanguages',
    summary: 'List the languages that content may be labelled with',
    schema: LanguageList,
    handler: (request, reply) => withView(face.settled(), () => sendBody(request, reply, bodies.languages())),
  })
  textRoutes(parts, add)
  termsByDate(server, parts)
  add({
    path: '/api/v1/instance/translation_languages',
    operationId: 'GetTranslationLanguages',
    summary: 'List what can be translated into what',
    description: '`und` stands for content without a language. Empty without a translation service.',
    schema: TranslationLanguagesDocument,
    handler: (request, reply) => withView(face.settled(), (view) => sendLanguages(parts, view, request, reply)),
  })
}

function sendV1(
  { bodies, baseUrl }: PublicRouteParts,
  view: InstanceView,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { settings } = view.data
  if (settings.whitelist_mode) requireUser(request, instanceDomain(settings, baseUrl()), USER_REQUIRED)
  // 2022-11-14, when the second version came.
  reply.header('deprecation', '@1668384000')
  reply.header('link', `<${baseUrl()}/api/v2/instance>; rel="successor-version"`)
  return sendBody(request, reply, bodies.v1(view), settings.whitelist_mode ? FOR_THIS_CALLER : FOR_EVERYBODY)
}

function textRoutes({ face, bodies }: PublicRouteParts, add: (one: PublicOperation) => void): void {
  add({
    path: '/api/v1/instance/extended_description',
    operationId: 'GetExtendedDescription',
    summary: 'Read the long description of this server',
    schema: InstanceText,
    handler: (request, reply) =>
      withView(face.settled(), (view) => sendBody(request, reply, bodies.extendedDescription(view))),
  })
  add({
    path: '/api/v1/instance/privacy_policy',
    operationId: 'GetPrivacyPolicy',
    summary: 'Read the privacy policy of this server',
    schema: InstanceText,
    handler: (request, reply) =>
      withView(face.settled(), (view) => sendBody(request, reply, bodies.privacyPolicy(view))),
  })
  add({
    path: '/api/v1/instance/terms_of_service',
    operationId: 'GetTermsOfService',
    summary: 'Read the terms of service of this server',
    description: 'The newest version in effect, or else the earliest upcoming one. 404 when none is published.',
    schema: TermsOfService,
    handler: (request, reply) =>
      withView(face.settled(), (view) => sendBody(request, reply, bodies.terms(view) ?? missing())),
  })
}

function termsByDate(server: FastifyInstance, { face, bodies, rateLimit }: PublicRouteParts): void {
  operation(server, {
    method: 'GET',
    url: '/api/v1/instance/terms_of_service/:date',
    operationId: 'GetTermsOfServiceByDate',
    summary: 'Read the terms of service that take effect on a day',
    tags: ['instance'],
    surface: 'instance',
    access: 'bearer',
    rateLimit,
    sends: ['ETag'],
    schema: {
      params: Type.Object({ date: Type.String({ description: 'YYYY-MM-DD' }) }),
      response: { 200: TermsOfService },
    },
    handler(request, reply) {
      const date = request.params.date.replace(/\.json$/, '')
      return withView(face.settled(), (view) => sendBody(request, reply, bodies.terms(view, date) ?? missing()))
    },
  })
}

function missing(): never {
  throw recordNotFound()
}

/** Only this endpoint ever waits for the provider, and only while its list was never read. */
function sendLanguages(
  { bodies, face, translation }: PublicRouteParts,
  view: InstanceView,
  request: FastifyRequest,
  reply: FastifyReply,
): Answer {
  const body = bodies.translationLanguages(view)
  if (body !== undefined) return sendBody(request, reply, body)
  return translation.fetchFirst(view.data.settings).then(async (languages) => {
    if (languages === undefined) return remoteFailure(reply)
    const known =
      bodies.translationLanguages(await face.settled()) ?? bodies.translationLanguages({ ...view, languages })
    return known === undefined ? remoteFailure(reply) : sendBody(request, reply, known)
  })
}
