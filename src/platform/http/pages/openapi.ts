import { STATUS_CODES } from 'node:http'
import type { TSchema } from 'typebox'
import { DURATION } from '../../config/duration.ts'
import { describeAccess, isOpen } from '../entry/access.ts'
import { JSON_TYPES } from '../input/json-body.ts'
import type { JsonSchema } from '../input/problem-texts.ts'
import { idempotencyOf, isRawBody, rateRulesOf } from '../operation.ts'
import type { AnyOperation, Condition, RawBody } from '../operation-options.ts'
import type { HttpPlatform } from '../platform.ts'
import { SURFACES, type Surface } from '../surface.ts'
import { failureHeaders, HEADERS, type HeaderRefs, sentHeaders } from './openapi-headers.ts'

interface Parameter {
  name: string
  in: string
  required: boolean
  schema: JsonSchema
  description?: string
  allowEmptyValue?: true
}

export interface OpenApiOperation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  deprecated?: boolean
  security: Record<string, string[]>[]
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> }
  responses: Record<
    string,
    { description: string; headers: HeaderRefs; content?: Record<string, { schema?: JsonSchema }> } | { $ref: string }
  >
  'x-access': string
  'x-rate-limits'?: string[]
}

export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OpenApiOperation>>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, object>
    headers: Record<string, object>
    securitySchemes: Record<string, object>
  }
}

const SURFACE_TEXTS: Record<Surface, string> = {
  users: 'Users, roles, invitations, keys and sessions.',
  instance: 'The public face of this server and its administration.',
  knowledge: 'Projects, notes, links, graph and search.',
  callbacks: 'Results that must reach other systems. Every path exists under /api/v1, too.',
  platform: 'The server itself.',
}

const text = { type: 'string' }
const ERROR_SCHEMAS: Record<Surface, JsonSchema> = {
  users: { type: 'object', required: ['errors'], properties: { errors: { type: 'array', items: text, minItems: 1 } } },
  instance: {
    type: 'object',
    required: ['error'],
    properties: {
      error: text,
      details: {
        type: 'object',
        description: 'Of a malformed request: what is wrong, by member; `base` is the whole body.',
        additionalProperties: {
          type: 'array',
          items: { type: 'object', required: ['error', 'description'], properties: { error: text, description: text } },
        },
      },
      existing_domain_block: {
        type: 'object',
        description: 'Of a domain that is blocked already, or covered by another block: that block.',
      },
      dry_run: { type: 'boolean', description: 'Of an import that was refused as a whole, as all that follow.' },
      imported: { type: 'integer', description: 'Always 0.' },
      failed: { type: 'integer', description: 'Bad lines.' },
      errors: {
        type: 'array',
        description: 'The bad lines.',
        items: {
          type: 'object',
          required: ['line', 'domain', 'error'],
          properties: { line: { type: 'integer' }, domain: text, error: text },
        },
      },
    },
  },
  knowledge: {
    type: 'object',
    required: ['detail'],
    properties: {
      detail: text,
      errors: {
        type: 'array',
        description: 'Of a malformed request: what is wrong, and where.',
        items: {
          type: 'object',
          required: ['loc', 'msg', 'type'],
          properties: {
            loc: { type: 'array', items: { anyOf: [text, { type: 'integer' }] } },
            msg: text,
            type: text,
          },
        },
      },
      index: { type: 'integer', description: 'Of a batch that changed nothing: which operation failed.' },
      db_checksum: {
        anyOf: [text, { type: 'null' }],
        description: 'Of a note that was changed meanwhile: its checksum now, null when it was deleted.',
      },
    },
  },
  callbacks: {
    type: 'object',
    required: ['code', 'message', 'details'],
    properties: { code: { type: 'integer' }, message: text, details: { type: 'array', items: { type: 'object' } } },
  },
  platform: { type: 'object', required: ['error'], properties: { error: text } },
}

/** The rest of an address, which `*` stands for: no name that a template may have. */
const REST = 'uri'

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeat with the same key within 24 hours is answered as the first request was.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}

const REQUEST_TIMEOUT = {
  name: 'Request-Timeout',
  in: 'header',
  required: false,
  description:
    'How long the caller waits, as `2000ms` or `2s`: a poll answers before that, anything else is 504 behind it.',
  schema: { type: 'string', pattern: DURATION.source },
}

const CONDITIONS: Record<Condition, Parameter> = {
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: '`ETag` of an earlier answer: 412, and nothing changes, when it is another by now.',
    schema: { type: 'string' },
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: '`*`: only when there is none yet, else 412. With an `ETag`: only when it is another.',
    schema: { type: 'string' },
  },
}

/** Everything REST, from the operations themselves: what is not declared there is not served either. */
export function openApiDocument(platform: Pick<HttpPlatform, 'operations' | 'version'>): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = {}
  const paths: OpenApiDocument['paths'] = {}
  for (const operation of platform.operations.values()) {
    const path = operation.url.replace(/:([A-Za-z_]\w*)(\([^)]*\))?/g, '{$1}').replace(/\*$/, `{${REST}}`)
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = describe(operation, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Commonplace',
      version: platform.version,
      description: 'One self-hosted server for what a community or company knows. Each surface has its own error body.',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: SURFACES.map((name) => ({ name, description: SURFACE_TEXTS[name] })),
    paths,
    components: {
      schemas: {
        ...schemas,
        ...Object.fromEntries(SURFACES.map((surface) => [errorName(surface), ERROR_SCHEMAS[surface]])),
      },
      responses: Object.fromEntries(SURFACES.map((surface) => [errorName(surface), errorResponse(surface)])),
      headers: HEADERS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        applicationKey: { type: 'apiKey', in: 'header', name: 'X-Application-Key' },
      },
    },
  }
}

function describe(operation: AnyOperation, schemas: Record<string, JsonSchema>): OpenApiOperation {
  const { surface, schema } = operation
  const responses: OpenApiOperation['responses'] = {}
  for (const [status, body] of Object.entries(schema.response)) {
    responses[status] = declared(operation, Number(status), body as TSchema | RawBody | null, schemas)
  }
  for (const status of errorStatuses(operation))
    responses[status] ??= { $ref: `#/components/responses/${errorName(surface)}` }
  const content = bodyContent(operation, schemas)
  const buckets = rateRulesOf(operation).map(({ bucket }) => bucket)
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    ...(operation.description && { description: operation.description }),
    tags: [...(operation.tags ?? [surface])],
    ...(operation.deprecated && { deprecated: true }),
    security: securityOf(operation),
    parameters: [
      ...parameters('path', schema.params, schemas),
      ...parameters('query', schema.querystring, schemas),
      ...(idempotencyOf(operation) === null ? [] : [IDEMPOTENCY_KEY]),
      ...(operation.conditions ?? []).map((name) => CONDITIONS[name]),
      ...(operation.deadlineMs === undefined ? [] : [REQUEST_TIMEOUT]),
    ],
    ...(Object.keys(content).length > 0 && { requestBody: { required: true, content } }),
    responses,
    'x-access': describeAccess(operation.access),
    ...(buckets.length > 0 && { 'x-rate-limits': buckets }),
  }
}

function securityOf({ access }: AnyOperation): Record<string, string[]>[] {
  if (access === 'public') return []
  if (access === 'bearer') return [{}, { bearer: [] }]
  const schemes: Record<string, string[]>[] = [{ bearer: [] }, { apiKey: [], applicationKey: [] }]
  return access === 'optional' ? [{}, ...schemes] : schemes
}

function bodyContent({ schema, alsoAs, takes }: AnyOperation, schemas: Record<string, JsonSchema>) {
  const content: Record<string, { schema: JsonSchema }> = {}
  if (schema.body) {
    for (const type of JSON_TYPES) content[type] = { schema: hoist(schema.body as JsonSchema, schemas) }
    Object.assign(content, otherForm(alsoAs))
  }
  for (const [type, form] of Object.entries(takes ?? {})) content[type] = { schema: form }
  return content
}

function errorStatuses({ access, schema, rateLimit, surface, takes, conditions }: AnyOperation): string[] {
  const statuses = isOpen(access) ? [] : ['401', '403']
  if (schema.body || schema.querystring)
    statuses.push(surface === 'knowledge' || surface === 'instance' ? '422' : '400')
  if (schema.params) statuses.push('404')
  if (conditions) statuses.push('412')
  if (schema.body || takes) statuses.push('413', '415')
  if (rateLimit !== null) statuses.push('429')
  return [...statuses, 'default']
}

/** An answer that the operation describes itself. */
function declared(
  operation: AnyOperation,
  status: number,
  body: TSchema | RawBody | null,
  schemas: Record<string, JsonSchema>,
) {
  const headers = status < 400 ? sentHeaders(operation, status) : failureHeaders(operation.surface)
  if (body === null) return { description: STATUS_CODES[status] ?? 'Done', headers }
  if (isRawBody(body)) return { description: body.description, headers, content: { [body.contentType]: {} } }
  const description = (body as JsonSchema).description ?? STATUS_CODES[status] ?? 'Done'
  const json = { 'application/json': { schema: hoist(body as JsonSchema, schemas) } }
  return { description, headers, content: { ...json, ...otherForm(operation.alsoAs) } }
}

function otherForm(type: string | undefined): Record<string, { schema: JsonSchema }> {
  return type === undefined ? {} : { [type]: { schema: { type: 'string', format: 'binary' } } }
}

function errorName(surface: Surface): string {
  return `${surface[0]?.toUpperCase()}${surface.slice(1)}Error`
}

function errorResponse(surface: Surface): object {
  const schema = { $ref: `#/components/schemas/${errorName(surface)}` }
  const description = `An error of the ${surface} surface`
  return { description, headers: failureHeaders(surface), content: { 'application/json': { schema } } }
}

function parameters(place: 'path' | 'query', schema: JsonSchema | undefined, schemas: Record<string, JsonSchema>) {
  const required = (schema?.required ?? []) as string[]
  const properties = Object.entries((schema?.properties ?? {}) as Record<string, JsonSchema>)
  return properties.map(
    ([name, { allowEmptyValue, ...one }]): Parameter => ({
      name: name === '*' ? REST : name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(one.description && { description: one.description }),
      ...(allowEmptyValue === true && { allowEmptyValue }),
      schema: hoist(one, schemas),
    }),
  )
}

/**
 * A schema with an `$id` is written once, under `components`, and referred to. What a check in code refuses is `documented` beside it, for
 * no keyword says it in the words or with the code of that check.
 */
function hoist(schema: JsonSchema, schemas: Record<string, JsonSchema>): JsonSchema {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, schemas)) as unknown as JsonSchema
  if (typeof schema !== 'object' || schema === null) return schema
  const { $id, documented, ...rest } = schema
  const told = Object.entries({ ...rest, ...(documented as object | undefined) })
  const copy = Object.fromEntries(told.map(([key, value]) => [key, hoist(value as JsonSchema, schemas)]))
  if (typeof $id !== 'string') return copy
  schemas[$id] = copy
  return { $ref: `#/components/schemas/${$id}` }
}
