import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { operation } from '../../platform/http/operation.ts'
import { BodyKeeper, HTML_TYPE } from '../public/body-keeper.ts'
import type { InstanceFace, InstanceView } from '../public/instance-face.ts'
import { withView } from '../public/routes-public.ts'
import { PRIVATE, sendBody } from '../public/send-body.ts'
import { aboutPage, accountPage, missingPage, privacyPolicyPage, termsPage } from './instance-pages.ts'

export interface PageParts {
  face: InstanceFace
  baseUrl(): string
}

const COMMON = {
  method: 'GET',
  tags: ['instance'],
  surface: 'platform',
  access: 'public',
  rateLimit: null,
  page: true,
  sends: ['ETag'],
} as const
const response = { 200: { contentType: HTML_TYPE, description: 'The page' } }
const orMissing = { ...response, 404: { contentType: HTML_TYPE, description: 'A page that says there is none' } }

export function instancePageRoutes(server: FastifyInstance, { face, baseUrl }: PageParts): void {
  const kept = new BodyKeeper()

  const send = (request: FastifyRequest, reply: FastifyReply, view: InstanceView, name: string, make: () => string) =>
    sendBody(request, reply, kept.page(name, view.data, make))

  const sendMissing = (reply: FastifyReply, view: InstanceView) =>
    reply.code(404).header('cache-control', PRIVATE).type(HTML_TYPE).send(missingPage(view, baseUrl()))

  operation(server, {
    ...COMMON,
    url: '/about',
    operationId: 'GetAboutPage',
    summary: 'Read about this server as a page',
    schema: { response },
    handler: (request, reply) =>
      withView(face.counted(), (view) => send(request, reply, view, 'about', () => aboutPage(view, baseUrl()))),
  })
  operation(server, {
    ...COMMON,
    url: '/privacy-policy',
    operationId: 'GetPrivacyPolicyPage',
    summary: 'Read the privacy policy as a page',
    schema: { response },
    handler: (request, reply) =>
      withView(face.settled(), (view) =>
        send(request, reply, view, 'privacy', () => privacyPolicyPage(view, baseUrl())),
      ),
  })
  operation(server, {
    ...COMMON,
    url: '/terms-of-service',
    operationId: 'GetTermsOfServicePage',
    summary: 'Read the terms of service as a page',
    schema: { response: orMissing },
    handler: (request, reply) =>
      withView(face.settled(), (view) =>
        view.data.terms.length === 0
          ? sendMissing(reply, view)
          : send(request, reply, view, 'terms', () => termsPage(view, baseUrl())),
      ),
  })
  operation(server, {
    ...COMMON,
    url: '/@:username',
    operationId: 'GetContactPage',
    summary: 'See who answers for this server',
    schema: { params: Type.Object({ username: Type.String() }), response: orMissing },
    handler: (request, reply) =>
      withView(face.counted(), (view) => {
        const { contact } = view.data
        // Other users are nobody's business.
        if (contact === null || contact.username !== request.params.username) return sendMissing(reply, view)
        return send(request, reply, view, 'account', () => accountPage(view, contact, baseUrl()))
      }),
  })
}
