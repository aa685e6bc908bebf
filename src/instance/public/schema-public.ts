/** What the answers look like, for the documentation. They are written by the documents beside this file. */
import { Type } from 'typebox'
import { nullable } from '../../platform/http/input/nullable.ts'
import { IconDocument, ThumbnailDocument } from '../images/image-documents.ts'

const Url = Type.String({ format: 'uri' })
const Html = Type.String({ description: 'HTML.' })
const Day = Type.String({ format: 'date' })
const Time = Type.String({ format: 'date-time' })
const Count = Type.Integer({ minimum: 0 })
const NumberText = Type.String({ pattern: '^\\d+$' })

function counts<const Names extends readonly string[]>(...names: Names) {
  return Object.fromEntries(names.map((name) => [name, Count])) as Record<Names[number], typeof Count>
}

const RuleDocument = Type.Object(
  {
    id: Type.String(),
    text: Type.String(),
    hint: Type.String(),
    translations: Type.Record(Type.String(), Type.Object({ text: Type.String(), hint: Type.String() })),
  },
  { $id: 'InstanceRule' },
)
export const RuleList = Type.Array(RuleDocument)

const account = {
  id: Type.String(),
  username: Type.String(),
  acct: Type.String(),
  display_name: Type.String(),
  locked: Type.Boolean(),
  bot: Type.Boolean(),
  discoverable: Type.Boolean(),
  indexable: Type.Boolean(),
  group: Type.Boolean(),
  created_at: Time,
  note: Html,
  url: Url,
  uri: Url,
  avatar: Url,
  avatar_static: Url,
  header: Url,
  header_static: Url,
  ...counts('followers_count', 'following_count', 'statuses_count'),
  last_status_at: nullable(Day),
  hide_collections: nullable(Type.Boolean()),
  emojis: Type.Array(Type.Unknown()),
  roles: Type.Array(Type.Unknown()),
  fields: Type.Array(Type.Object({ name: Type.String(), value: Html, verified_at: nullable(Time) })),
}

const limits = {
  accounts: Type.Object(
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
  ),
  statuses: Type.Object(counts('max_characters', 'max_media_attachments', 'characters_reserved_per_url')),
  polls: Type.Object(counts('max_options', 'max_characters_per_option', 'min_expiration', 'max_expiration')),
}
const media = {
  supported_mime_types: Type.Array(Type.String()),
  ...counts(
    'image_size_limit',
    'image_matrix_limit',
    'video_size_limit',
    'video_frame_rate_limit',
    'video_matrix_limit',
  ),
}

export const InstanceV2Document = Type.Object(
  {
    domain: Type.String(),
    title: Type.String(),
    version: Type.String(),
    source_url: Url,
    description: Type.String(),
    usage: Type.Object({ users: Type.Object(counts('active_month')) }),
    thumbnail: ThumbnailDocument,
    icon: IconDocument,
    languages: Type.Array(Type.String()),
    configuration: Type.Object({
      urls: Type.Object({
        streaming: Type.String({ description: 'WebSocket; clients append `/api/v1/streaming`.' }),
        status: nullable(Url),
        about: Url,
        privacy_policy: nullable(Url),
        terms_of_service: nullable(Url),
      }),
      vapid: Type.Object({ public_key: Type.String() }),
      ...limits,
      media_attachments: Type.Object({ ...media, ...counts('description_limit') }),
      translation: Type.Object({ enabled: Type.Boolean() }),
      limited_federation: Type.Boolean(),
    }),
    registrations: Type.Object({
      enabled: Type.Boolean(),
      approval_required: Type.Boolean(),
      reason_required: Type.Boolean(),
      message: nullable(Html),
      min_age: nullable(Type.Integer()),
      url: nullable(Url),
    }),
    api_versions: Type.Object({ commonplace: Type.Integer({ minimum: 1 }) }),
    contact: Type.Object({
      email: Type.String(),
      account: nullable(Type.Object({ ...account, noindex: Type.Boolean() }, { $id: 'InstanceAccountV2' })),
    }),
    rules: RuleList,
  },
  { $id: 'InstanceV2' },
)

export const InstanceV1Document = Type.Object(
  {
    uri: Type.String(),
    title: Type.String(),
    short_description: Type.String(),
    description: Html,
    email: Type.String(),
    version: Type.String(),
    urls: Type.Object({ streaming_api: Type.String() }),
    stats: Type.Object(counts('user_count', 'status_count', 'domain_count')),
    thumbnail: Url,
    languages: Type.Array(Type.String()),
    registrations: Type.Boolean(),
    approval_required: Type.Boolean(),
    invites_enabled: Type.Boolean(),
    configuration: Type.Object({ ...limits, media_attachments: Type.Object(media) }),
    contact_account: nullable(Type.Object(account, { $id: 'InstanceAccountV1' })),
    rules: RuleList,
  },
  { $id: 'InstanceV1' },
)

export const ActivityList = Type.Array(
  Type.Object({ week: NumberText, statuses: NumberText, logins: NumberText, registrations: NumberText }),
)

export const DomainBlockList = Type.Array(
  Type.Object({
    domain: Type.String(),
    digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    severity: Type.Union([Type.Literal('silence'), Type.Literal('suspend')]),
    comment: nullable(Type.String({ description: 'Null when it is withheld from the caller.' })),
  }),
)
export const DomainAllowList = Type.Array(Type.Object({ domain: Type.String(), digest: Type.String() }))
export const DomainNames = Type.Array(Type.String())

const text = { updated_at: Time, content: Html }
export const InstanceText = Type.Object(text)
export const TermsOfService = Type.Object({
  ...text,
  effective_date: Day,
  effective: Type.Boolean(),
  succeeded_by: nullable(Day),
})
export const LanguageList = Type.Array(Type.Object({ code: Type.String(), name: Type.String() }))
