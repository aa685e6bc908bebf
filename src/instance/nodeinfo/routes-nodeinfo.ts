import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../platform/errors/app-error.ts'
import { operation } from '../../platform/http/operation.ts'
import { BodyKeeper } from '../public/body-keeper.ts'
import type { InstanceFace, InstanceView } from '../public/instance-face.ts'
import { withView } from '../public/routes-public.ts'
import { type Caching, sendBody } from '../public/send-body.ts'
import { type NodeInfoVersion, nodeInfoDocument, nodeInfoLinks } from './nodeinfo-document.ts'

const Links = Type.Object({ links: Type.Array(Type.Object({ rel: Type.String(), href: Type.String() })) })
const count = Type.Integer({ minimum: 0 })
const NodeInfo = Type.Object(
  {
    version: Type.String(),
    software: Type.Object({
      name: Type.String(),
      version: Type.String(),
      repository: Type.Optional(Type.String({ description: 'From 2.1 on.' })),
    }),
    protocols: Type.Array(Type.String()),
    services: Type.Object({ inbound: Type.Array(Type.String()), outbound: Type.Array(Type.String()) }),
    usage: Type.Object({
      users: Type.Object({ total: count, activeMonth: count, activeHalfyear: count }),
      localPosts: count,
    }),
    openRegistrations: Type.Boolean(),
    metadata: Type.Object({
      nodeName: Type.String(),
      nodeDescription: Type.String(),
      upstream: Type.Optional(Type.Object({ name: Type.String() }, { description: 'With `compat.mastodon_version`.' })),
    }),
  },
  { $id: 'NodeInfo' },
)

const COMMON = {
  method: 'GET',
  tags: ['instance'],
  surface: 'platform',
  access: 'public',
  rateLimit: null,
  sends: ['ETag'],
} as const
const THREE_DAYS: Caching = { cacheControl: 'max-age=259200, public', variesByCaller: false }
const HALF_AN_HOUR: Caching = { cacheControl: 'max-age=1800, public', variesByCaller: false }

/** Not there until it is switched on: we speak none of the protocols that its schema knows. */
export function nodeInfoRoutes(server: FastifyInstance, face: InstanceFace, baseUrl: () => string): void {
  const kept = new BodyKeeper()

  operation(server, {
    ...COMMON,
    url: '/.well-known/nodeinfo',
    aliases: ['/.well-known/nodeinfo.json'],
    operationId: 'GetNodeInfoLinks',
    summary: 'Find the NodeInfo documents',
    schema: { response: { 200: Links } },
    handler: (request, reply) =>
      withView(face.settled(), (view) => {
        requireSwitch(view)
        const body = kept.body('links', view.data, () => ({ document: nodeInfoLinks(baseUrl()) }))
        return sendBody(request, reply, body, THREE_DAYS)
      }),
  })

  const document = (version: NodeInfoVersion) => (request: FastifyRequest, reply: FastifyReply) =>
    withView(face.counted(), (view) => {
      requireSwitch(view)
      const body = kept.body(version, view.data, () => ({ document: nodeInfoDocument(view.data, version) }))
      return sendBody(request, reply, body, HALF_AN_HOUR)
    })

  for (const version of ['2.0', '2.1'] as const) {
    operation(server, {
      ...COMMON,
      url: `/nodeinfo/${version}`,
      aliases: [`/nodeinfo/${version}.json`],
      operationId: `GetNodeInfo${version.replace('.', '')}`,
      summary: `Read the NodeInfo ${version} document`,
      schema: { response: { 200: NodeInfo } },
      handler: document(version),
    })
  }
}

function requireSwitch({ data }: InstanceView): void {
  if (!data.settings.nodeinfo.enabled) throw new AppError('not_found', 'Not Found')
}
