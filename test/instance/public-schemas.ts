// The tables of the contract as JSON Schemas, written by hand from them and not from the code: every member is required,
// and none may be there that is not listed.
import assert from 'node:assert/strict'
import { Compile } from 'typebox/schema'

const string = { type: 'string' }
const boolean = { type: 'boolean' }
const count = { type: 'integer', minimum: 0 }
const url = { type: 'string', pattern: '^https?://[^\\s]+$' }
const time = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$' }
const date = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' }
const digits = { type: 'string', pattern: '^\\d+$' }

type Schema = Record<string, unknown>

function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] }
}

function object(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

function list(items: Schema, more: Schema = {}): Schema {
  return { type: 'array', items, ...more }
}

function counts(...names: string[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, count]))
}

const rule = object({
  id: string,
  text: string,
  hint: string,
  translations: { type: 'object', additionalProperties: object({ text: string, hint: string }) },
})

const account = {
  id: string,
  username: { type: 'string', pattern: '^[a-z0-9_.-]+$' },
  acct: string,
  display_name: string,
  locked: { const: false },
  group: { const: false },
  bot: boolean,
  discoverable: boolean,
  created_at: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T00:00:00\\.000Z$' },
  note: string,
  url,
  avatar: url,
  avatar_static: url,
  header: url,
  header_static: url,
  ...counts('followers_count', 'following_count', 'statuses_count'),
  last_status_at: orNull(date),
  emojis: list({}, { maxItems: 0 }),
  fields: list(object({ name: string, value: string, verified_at: orNull(time) })),
  uri: url,
  indexable: boolean,
  hide_collections: orNull(boolean),
  roles: list({}, { maxItems: 0 }),
}

const accounts = object(
  counts(
    'max_featured_tags',
    'max_pinned_statuses',
    'max_display_name_length',
    'max_note_length',
    'max_avatar_description_length',
    'max_header_description_length',
    'max_profile_fields',
    'profile_field_name_limit',
    'profile_field_value_limit',
  ),
)
const statuses = object(counts('max_characters', 'max_media_attachments', 'characters_reserved_per_url'))
const polls = object(counts('max_options', 'max_characters_per_option', 'min_expiration', 'max_expiration'))
const mediaV1 = {
  supported_mime_types: list(string),
  ...counts(
    'image_size_limit',
    'image_matrix_limit',
    'video_size_limit',
    'video_frame_rate_limit',
    'video_matrix_limit',
  ),
}

const text = { updated_at: time, content: string }

const SCHEMAS = {
  v2: object({
    domain: { type: 'string', pattern: '^[^/\\s]+$' },
    title: string,
    version: string,
    source_url: url,
    description: { type: 'string', maxLength: 200 },
    usage: object({ users: object(counts('active_month')) }),
    thumbnail: object({
      url,
      blurhash: { type: 'string', pattern: '^U.{35}$' },
      versions: object({ '@1x': url, '@2x': url }),
      description: { type: 'string', maxLength: 200 },
    }),
    icon: list(object({ src: url, size: { type: 'string', pattern: '^(\\d+)x\\d+$' } }), { minItems: 9, maxItems: 9 }),
    languages: list(string, { minItems: 1 }),
    configuration: object({
      urls: object({
        streaming: { type: 'string', pattern: '^wss?://[^/]+$' },
        status: orNull(url),
        about: url,
        privacy_policy: orNull(url),
        terms_of_service: orNull(url),
      }),
      vapid: object({ public_key: { type: 'string', pattern: '^[A-Za-z0-9_-]{87}=$' } }),
      accounts,
      statuses,
      media_attachments: object({ ...mediaV1, ...counts('description_limit') }),
      polls,
      translation: object({ enabled: boolean }),
      limited_federation: boolean,
    }),
    registrations: object({
      enabled: boolean,
      approval_required: boolean,
      reason_required: boolean,
      message: orNull(string),
      min_age: orNull({ type: 'integer' }),
      url: orNull(url),
    }),
    api_versions: object({ commonplace: { type: 'integer', minimum: 1 } }),
    contact: object({ email: string, account: orNull(object({ ...account, noindex: boolean })) }),
    rules: list(rule),
  }),
  v1: object({
    uri: { type: 'string', pattern: '^[^/\\s]+$' },
    title: string,
    short_description: string,
    description: string,
    email: string,
    version: string,
    urls: object({ streaming_api: { type: 'string', pattern: '^wss?://[^/]+$' } }),
    stats: object(counts('user_count', 'status_count', 'domain_count')),
    thumbnail: url,
    languages: list(string, { minItems: 1 }),
    registrations: boolean,
    approval_required: boolean,
    invites_enabled: boolean,
    configuration: object({ accounts, statuses, media_attachments: object(mediaV1), polls }),
    contact_account: orNull(object(account)),
    rules: list(rule),
  }),
  peers: list(string, { uniqueItems: true }),
  activity: list(object({ week: digits, statuses: digits, logins: digits, registrations: digits }), {
    minItems: 12,
    maxItems: 12,
  }),
  rules: list(rule),
  blocks: list(
    object({
      domain: string,
      digest: { type: 'string', pattern: '^[0-9a-f]{64}$' },
      severity: { enum: ['silence', 'suspend'] },
      comment: orNull(string),
    }),
  ),
  description: object(text),
  privacy: object(text),
  terms: object({ ...text, effective_date: date, effective: boolean, succeeded_by: orNull(date) }),
  languages: { type: 'object', additionalProperties: list(string) },
  nodeinfo: object({
    version: { enum: ['2.0', '2.1'] },
    software: {
      type: 'object',
      properties: { name: { type: 'string', pattern: '^[a-z0-9-]+$' }, version: string, repository: url },
      required: ['name', 'version'],
      additionalProperties: false,
    },
    protocols: list(string),
    services: object({ inbound: list(string), outbound: list(string) }),
    usage: object({ users: object(counts('total', 'activeMonth', 'activeHalfyear')), localPosts: count }),
    openRegistrations: boolean,
    metadata: { type: 'object', required: ['nodeName', 'nodeDescription'] },
  }),
} as const

const validators = new Map<string, ReturnType<typeof Compile>>()

/** Fails with every place that is not as the contract says. */
export function assertShape(name: keyof typeof SCHEMAS, value: unknown): void {
  const validator = validators.get(name) ?? Compile(SCHEMAS[name] as object)
  validators.set(name, validator)
  if (validator.Check(value)) return
  const [, errors] = validator.Errors(value)
  const places = errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`)
  assert.fail(`${name} is not as the contract says:\n${places.join('\n')}\n${JSON.stringify(value).slice(0, 2_000)}`)
}
