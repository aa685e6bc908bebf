/**
 * Operations whose requests and answers are messages of a .proto file: the same over HTTP as over RPC. Bodies are read
 * once, straight into the message; no schema runs over them, for the service behind checks everything by itself.
 */
import { type DescMessage, equals, type MessageShape } from '@bufbuild/protobuf'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { PermissionName } from '../../platform/auth/permissions.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { withinDeadline } from '../../platform/http/answer/within-deadline.ts'
import { bodyParser } from '../../platform/http/input/body-parser.ts'
import { JSON_TYPES } from '../../platform/http/input/json-body.ts'
import { operation } from '../../platform/http/operation.ts'
import type { Method } from '../../platform/http/operation-options.ts'
import type { Call } from '../call.ts'
import { type PathValues, type QueryValues, readFlags, readQueryRequest } from '../wire/read-request.ts'
import { HttpCall, readDeadline } from './http-call.ts'
import { BINARY_TYPE, readBody, writeBody } from './message-body.ts'
import { messageSchema, querySchema } from './message-schema.ts'

export interface MessageOperation<Request extends DescMessage, Response extends DescMessage> {
  method: Method
  /** Under `/namespaces/:namespace`; parameters are called as the fields of the request in the .proto file. */
  path: string
  /** Where the path ends before its last parameter, which is then empty: a slash at the end is ignored by the router. */
  emptyAt?: string
  /** Whether the method QUERY does the same with a body, for what is too long for an address on its way through proxies. */
  alsoByQuery?: boolean
  operationId: string
  summary: string
  description?: string
  access: PermissionName
  request: Request
  response: Response
  /** Parameters of the path that are not called as the field they stand for: name to local name of the field. */
  pathFields?: Readonly<Record<string, string>>
  /** Where JSON may say what the message says in another way. */
  adaptJson?(json: unknown): unknown
  /** Members of the JSON in which null means something else than that they are absent. */
  nullable?: readonly string[]
  /** Whether it may wait for long: it then answers by itself before the caller gives up. */
  isLongPoll?(request: MessageShape<Request>): boolean
  handle(request: MessageShape<Request>, call: Call): Promise<MessageShape<Response>>
}

const BODY_LIMIT = 4 * 1024 * 1024
const QUERY_TYPES = `application/json, ${BINARY_TYPE}`
const PREFIX = '/namespaces/:namespace'

const YES = 'Anything but `false`, `f` and `0` is yes, no value, too.'
const FLAGS = {
  noPayloadShorthand: Type.Optional(
    Type.Boolean({ allowEmptyValue: true, description: `Whether payloads are read and written in full only. ${YES}` }),
  ),
  pretty: Type.Optional(Type.Boolean({ allowEmptyValue: true, description: `Whether the answer is indented. ${YES}` })),
}

const takeBytes = bodyParser((body) => body)

/** Without a type it is JSON. Of a body that is empty the type says nothing: `curl -d ''` names one that nobody chose. */
const takeUntyped: typeof takeBytes = (request, body, done) => {
  if (request.headers['content-type'] === undefined || body.length === 0) takeBytes(request, body, done)
  else done(new AppError('unsupported_media_type', 'Unsupported content type'))
}

/** A place for such operations, in which bodies arrive as bytes. */
export function messageScope(server: FastifyInstance, register: (scope: FastifyInstance) => void): void {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser([...JSON_TYPES, BINARY_TYPE], { parseAs: 'buffer' }, takeBytes)
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, takeUntyped)
    scope.setValidatorCompiler(() => () => true)
    register(scope)
    done()
  })
}

export function messageOperation<Request extends DescMessage, Response extends DescMessage>(
  scope: FastifyInstance,
  options: MessageOperation<Request, Response>,
): void {
  const { method, request: desc, response, access, operationId, summary, description } = options
  const url = PREFIX + options.path
  const readPath = pathReader(url, desc, options.pathFields ?? {})
  const takesBody = method !== 'GET' && method !== 'DELETE'
  const { alsoByQuery = false } = options
  const { clock } = scope.platform

  operation(scope, {
    method,
    ...(alsoByQuery && { alsoBy: ['QUERY'] }),
    url,
    aliases: [url, ...(options.emptyAt === undefined ? [] : [PREFIX + options.emptyAt])]
      .flatMap((path) => [path, `/api/v1${path}`])
      .slice(1),
    operationId,
    summary,
    description,
    surface: 'callbacks',
    access,
    // Counted by the service, by namespace.
    rateLimit: null,
    deadlineMs: readDeadline,
    alsoAs: BINARY_TYPE,
    bodyLimit: BODY_LIMIT,
    cacheControl: 'private, no-store',
    schema: {
      params: Type.Object(Object.fromEntries(readPath.names.map((name) => [name, Type.String()]))),
      querystring: takesBody ? Type.Object(FLAGS) : querySchema(desc, readPath.fields, FLAGS),
      ...(takesBody && { body: messageSchema(desc, readPath.fields, options.nullable) }),
      response: { 200: messageSchema(response) },
    },
    async handler(request: FastifyRequest, reply: FastifyReply) {
      const query = request.query as QueryValues
      const flags = readFlags(query)
      const path = readPath(request.params as Record<string, string>)
      if (alsoByQuery) reply.header('accept-query', QUERY_TYPES)
      const isInBody = takesBody || request.method === 'QUERY'
      const message = isInBody
        ? readBody(desc, request, path, flags, options.adaptJson)
        : readQueryRequest(desc, query, path)
      if (isInBody) refuseMisplaced(desc, query, path)
      if (method === 'DELETE') refuseOtherBody(desc, readBody(desc, request, path, flags), message, path)
      const call = new HttpCall(request, reply)
      const { deadlineMs } = call
      const isBounded = deadlineMs !== null && options.isLongPoll?.(message) !== true
      const work = () => options.handle(message, call)
      const answer = await (isBounded ? withinDeadline(clock, deadlineMs, work) : work())
      return writeBody(response, answer, request, reply, flags)
    },
  })
}

/** What belongs to the body is not passed over in the address: without its `runId` a request would mean another run. */
function refuseMisplaced(desc: DescMessage, query: QueryValues, path: PathValues): void {
  for (const key of Object.keys(query)) {
    const field = desc.fields.find(({ name, jsonName }) => key === name || key === jsonName)
    if (field !== undefined && !Object.hasOwn(path, field.localName))
      throw new AppError('invalid_argument', `${key} belongs to the body of this request`)
  }
}

/** A DELETE is what its address says. A body that says more is not passed over: something else would be gone. */
function refuseOtherBody<Desc extends DescMessage>(
  desc: Desc,
  body: MessageShape<Desc>,
  message: MessageShape<Desc>,
  path: PathValues,
): void {
  if (equals(desc, body, message) || equals(desc, body, readQueryRequest(desc, {}, path))) return
  throw new AppError('invalid_argument', 'A DELETE takes no body: what it says belongs to the address, as ?runId=')
}

interface PathReader {
  (params: Record<string, string>): PathValues
  /** Of the parameters. */
  readonly names: readonly string[]
  /** Local names of the fields they stand for. */
  readonly fields: readonly string[]
}

function pathReader(url: string, desc: DescMessage, given: Readonly<Record<string, string>>): PathReader {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name as string)
  const fields = names.map((name) => {
    const field = given[name] ?? desc.fields.find((one) => one.name === name)?.localName
    if (field === undefined) throw new Error(`${desc.typeName} has no field for the parameter ${name} of ${url}`)
    return field
  })
  const read = (params: Record<string, string>) => {
    const values: Record<string, string> = {}
    for (let i = 0; i < names.length; i++) values[fields[i] as string] = params[names[i] as string] ?? ''
    return values
  }
  return Object.assign(read, { names, fields })
}
