/** What is not always for everybody: peers, weekly numbers, and the lists of blocked and allowed domains. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { operation } from '../../platform/http/operation.ts'
import { under } from '../admin-operations.ts'
import { instanceDomain } from '../instance-domain.ts'
import type { InstanceView } from './instance-face.ts'
import { PreparedBody } from './prepared-body.ts'
import type { ListBody } from './public-bodies.ts'
import { requireUser, TOKEN_INVALID, USER_REQUIRED } from './require-user.ts'
import {
  type Answer,
  HIDDEN,
  type PublicOperation,
  type PublicRouteParts,
  publicOperation,
  withView,
} from './routes-public.ts'
import { ActivityList, DomainAllowList, DomainBlockList, DomainNames } from './schema-public.ts'
import { searchPeers } from './search-peers.ts'
import { FOR_EVERYBODY, FOR_STRANGERS, FOR_THIS_CALLER, sendBody, sendNothing } from './send-body.ts'

export function domainRoutes(server: FastifyInstance, parts: PublicRouteParts): void {
  const { face, bodies, rateLimit } = parts
  const add = (one: PublicOperation) => publicOperation(server, rateLimit, one)

  add({
    path: '/api/v1/instance/peers',
    operationId: 'GetInstancePeers',
    summary: 'List the domains that this server deals with',
    description: 'In whitelist mode for users only. 404 without a body when the list is switched off.',
    schema: DomainNames,
    canBeHidden: true,
    handler: (request, reply) =>
      withPeers(parts, (view) =>
        sendGuarded(parts, { view, isOn: isListed, body: () => bodies.peers(view) }, request, reply),
      ),
  })
  searchRoute(server, parts)
  add({
    path: '/api/v1/instance/activity',
    operationId: 'GetInstanceActivity',
    summary: 'Read how much happened in each of the last twelve weeks',
    description: 'In whitelist mode for users only. 404 without a body when it is switched off. Numbers are texts.',
    schema: ActivityList,
    canBeHidden: true,
    handler: (request, reply) =>
      withView(face.counted(), (view) =>
        sendGuarded(parts, { view, isOn: hasActivity, body: () => bodies.activity(view) }, request, reply),
      ),
  })
  add({
    path: '/api/v1/instance/domain_blocks',
    operationId: 'GetInstanceDomainBlocks',
    summary: 'List the domains that this server limits or blocks',
    description: 'Who sees it, and who sees the comments, is a setting. 404 without a body when nobody does.',
    schema: DomainBlockList,
    canBeHidden: true,
    handler: (request, reply) => withView(face.settled(), (view) => sendBlocks(parts, view, request, reply)),
  })
  add({
    path: '/api/v1/instance/domain_allows',
    operationId: 'GetInstanceDomainAllows',
    summary: 'List the domains that this server deals with in whitelist mode',
    description: 'For users only. 404 without a body outside whitelist mode.',
    schema: DomainAllowList,
    canBeHidden: true,
    handler: (request, reply) =>
      withView(face.settled(), (view) =>
        sendGuarded(parts, { view, isOn: isLimited, body: () => bodies.domainAllows(view) }, request, reply),
      ),
  })
}

type Switch = (view: InstanceView) => boolean

const isListed: Switch = ({ data }) => data.settings.peers.enabled
const hasActivity: Switch = ({ data }) => data.settings.activity_api
const isLimited: Switch = ({ data }) => data.settings.whitelist_mode

interface GuardedList {
  view: InstanceView
  isOn: Switch
  body: () => ListBody
}

/** Who asks is judged before what is switched on: strangers do not learn of a limited server what it has. */
function sendGuarded(
  { baseUrl }: PublicRouteParts,
  { view, isOn, body }: GuardedList,
  request: FastifyRequest,
  reply: FastifyReply,
): Answer {
  const { settings } = view.data
  if (settings.whitelist_mode) requireUser(request, instanceDomain(settings, baseUrl()), USER_REQUIRED)
  if (!isOn(view)) return sendNothing(reply)
  const caching = settings.whitelist_mode ? FOR_THIS_CALLER : FOR_EVERYBODY
  return whenWritten(body(), (written) => sendBody(request, reply, written, caching))
}

function whenWritten(body: ListBody, send: (body: PreparedBody) => Promise<undefined> | undefined): Answer {
  return body instanceof Promise ? body.then(send) : send(body)
}

/** Declared peers change by hand only; hosts that took a delivery join by themselves. */
function withPeers({ face }: PublicRouteParts, answer: (view: InstanceView) => Answer) {
  const view = face.settled()
  if (view instanceof Promise) return view.then((one) => answer(one))
  return withView(view.lists.hostsMark === null ? view : face.counted(), answer)
}

function sendBlocks(parts: PublicRouteParts, view: InstanceView, request: FastifyRequest, reply: FastifyReply): Answer {
  const { settings } = view.data
  const { show_domain_blocks: audience, show_domain_blocks_rationale: rationale } = settings
  if (audience === 'disabled') return sendNothing(reply)
  if (audience === 'users') requireUser(request, instanceDomain(settings, parts.baseUrl()), TOKEN_INVALID)
  const showsComments = rationale === 'all' || (rationale === 'users' && request.principal !== null)
  const forCaller = request.headers.authorization === undefined ? FOR_STRANGERS : FOR_THIS_CALLER
  const caching = audience !== 'users' && rationale !== 'users' ? FOR_EVERYBODY : forCaller
  const body = parts.bodies.domainBlocks(view, showsComments)
  return whenWritten(body, (written) => sendBody(request, reply, written, caching))
}

function searchRoute(server: FastifyInstance, parts: PublicRouteParts): void {
  operation(server, {
    method: 'GET',
    ...under('/api/v1/peers/search'),
    operationId: 'SearchInstancePeers',
    summary: 'Find peers by the beginning of their name',
    description: 'At most ten. Hidden together with the list of peers.',
    tags: ['instance'],
    surface: 'instance',
    access: 'bearer',
    rateLimit: parts.rateLimit,
    sends: ['ETag'],
    schema: {
      querystring: Type.Object({
        q: Type.Optional(Type.Array(Type.String(), { description: 'The beginning of a name.' })),
      }),
      response: { 200: DomainNames, ...HIDDEN },
    },
    handler(request, reply) {
      const text = request.query.q?.at(-1) ?? ''
      return withPeers(parts, (view) => {
        const body = () => new PreparedBody(Buffer.from(JSON.stringify(searchPeers(view.lists.peers, text))))
        return sendGuarded(parts, { view, isOn: isListed, body }, request, reply)
      })
    },
  })
}
