import type { Static } from 'typebox'
import {
  DOMAIN,
  DOMAIN_AND_PORT,
  EMAIL,
  LANGUAGE,
  matching,
  optional,
  SERVICE_KEY,
  SOCKET_URL,
  WEB_URL,
} from '../platform/config/formats.ts'
import { choice, flag, group, integer, list, map, orNull, text } from '../platform/config/keys.ts'
import { LIMIT_PATHS } from './public/configuration-document.ts'

const audience = ['all', 'users', 'disabled'] as const

const contact = group(
  {
    email: text({ ...optional(EMAIL), description: 'Shown to everybody.', default: '', example: 'ops@example.org' }),
    user: orNull(
      text({
        description: 'Id, handle or email of the contact; null is the first administrator.',
        example: 'ada',
        maxLength: 320,
      }),
    ),
    fields: list(
      group({
        name: text({ description: 'Label of an extra line.', example: 'Hours', maxLength: 255 }),
        value: text({ description: 'Text of an extra line.', example: 'Mon-Fri', maxLength: 255 }),
      }),
      { description: 'Extra lines of the contact, each `{name, value}`.', default: [], maxItems: 20 },
    ),
  },
  { description: 'Who answers for this server.' },
)

const registrations = group(
  {
    mode: choice(['none', 'approved', 'open'], {
      description: 'Who may sign up, as clients are told; it has no other effect, for there is no sign-up here yet.',
      default: 'none',
    }),
    closed_message: text({
      description: 'Shown while nobody may sign up, as markdown.',
      default: '',
      example: 'Ask your team for an invitation.',
      multiline: true,
      maxLength: 10_000,
    }),
    reason_required: flag({ description: 'Whether an application needs a reason.', default: false }),
    min_age: orNull(integer({ description: 'Least age in years; null asks for none.', example: 16, min: 1, max: 150 })),
    url: orNull(text({ ...WEB_URL, description: 'A sign-up page elsewhere.', example: 'https://example.org/join' })),
  },
  { description: 'Signing up.' },
)

const peers = group(
  {
    enabled: flag({ description: 'Whether the list of peers is public.', default: true }),
    sources: list(choice(['declared', 'callbacks'], { example: 'declared' }), {
      description: 'Where peers come from; `callbacks` publishes the hosts that accepted a delivery.',
      default: ['declared'],
      maxItems: 2,
    }),
    declared: list(text({ ...DOMAIN, example: 'example.net' }), {
      description: 'Peers named by the operator.',
      default: [],
      maxItems: 10_000,
    }),
  },
  { description: 'Other servers this one deals with.' },
)

const translation = group(
  {
    provider: orNull(
      choice(['deepl', 'libretranslate'], { description: 'Who translates; null is nobody.', example: 'deepl' }),
    ),
    endpoint: orNull(
      text({
        ...WEB_URL,
        description: "Replaces the provider's own address.",
        example: 'https://translate.example.org',
      }),
    ),
    api_key: orNull(
      text({ ...SERVICE_KEY, description: 'Key for the provider.', example: 'a-key-from-the-provider', secret: 'all' }),
    ),
    plan: choice(['free', 'pro'], { description: 'Which of the hosts of DeepL is used.', default: 'free' }),
  },
  {
    description: 'Translation service.',
    checks: [
      ({ provider, endpoint }, report) => {
        if (provider === 'libretranslate' && endpoint === null) report(['endpoint'], 'is needed for `libretranslate`')
      },
    ],
  },
)

// 0 means no limit, which is what `dev` starts with.
function requests(description: string, limit: number) {
  return integer({ description, default: limit, byMode: { dev: 0 }, max: 1_000_000_000 })
}

const rateLimits = group(
  {
    window_seconds: integer({
      description: 'Length of a window, aligned to the clock.',
      default: 300,
      min: 1,
      max: 86_400,
    }),
    per_ip: requests('Requests without a user token from one address, 0 means no limit.', 300),
    per_token: requests('Requests with one token, 0 means no limit.', 300),
    per_user: requests('Requests of one user over all tokens, 0 means no limit.', 1500),
  },
  { description: 'Request limits of the instance paths.' },
)

function limitProblem(path: string): string | undefined {
  if (LIMIT_PATHS.includes(path)) return undefined
  const group = LIMIT_PATHS.filter((known) => known.startsWith(path.slice(0, path.indexOf('.') + 1)))
  const known = (group.length > 0 ? group : LIMIT_PATHS).map((one) => `\`${one}\``)
  return `is no limit that \`configuration\` has; it has ${known.join(', ')}`
}

export const instanceSettings = group(
  {
    domain: orNull(
      text({
        ...DOMAIN_AND_PORT,
        description: 'Name of the server; null takes the host of `server.base_url`.',
        example: 'kb.example.org',
      }),
    ),
    title: text({ description: 'Name shown to people.', default: 'Commonplace', maxLength: 200 }),
    description: text({
      description: 'One or two sentences of plain text.',
      default: '',
      example: 'Notes of the example team.',
      maxLength: 200,
      multiline: true,
    }),
    legacy_description: text({
      description: 'Description of the first API version, HTML.',
      default: '',
      example: '<p>Notes</p>',
      maxLength: 10_000,
      multiline: true,
    }),
    source_url: text({
      ...WEB_URL,
      description: 'Where the source of the software is.',
      default: 'https://example.org/commonplace',
    }),
    languages: list(text({ ...LANGUAGE, example: 'en' }), {
      description: 'Languages spoken here, the main one first.',
      default: ['en'],
      minItems: 1,
      maxItems: 200,
      eachOnce: true,
    }),
    streaming_url: orNull(
      text({
        ...SOCKET_URL,
        description:
          'WebSocket address that clients are told; null is made from `server.base_url`. The server serves none there yet.',
        example: 'wss://kb.example.org',
      }),
    ),
    status_page_url: orNull(
      text({ ...WEB_URL, description: 'Page that says whether all is well.', example: 'https://status.example.org' }),
    ),
    contact,
    account: group(
      {
        discoverable: flag({ description: 'Whether accounts ask to be found.', default: true }),
        noindex: flag({ description: 'Whether accounts ask search engines to stay away.', default: false }),
      },
      { description: 'What is said of the contact account.' },
    ),
    registrations,
    whitelist_mode: flag({ description: 'Deal with allowed domains only.', default: false }),
    activity_api: flag({ description: 'Whether weekly numbers are public.', default: true }),
    activity_round_to: integer({
      description: 'Weekly numbers are rounded to a multiple of this.',
      default: 1,
      min: 1,
      max: 1_000_000,
    }),
    peers,
    show_domain_blocks: choice([...audience], { description: 'Who sees the blocked domains.', default: 'all' }),
    show_domain_blocks_rationale: choice([...audience], {
      description: 'Who sees the public comments on them.',
      default: 'all',
    }),
    translation,
    limits: map(integer({ example: 20_000 }), {
      description: 'Overrides of advertised limits, by their path in `configuration`.',
      default: {},
      example: { 'statuses.max_characters': 20_000 },
      keys: /^[a-z_]{1,64}(\.[a-z_]{1,64}){1,4}$/,
      keyWhat: 'dotted paths such as `statuses.max_characters`',
      keyProblem: limitProblem,
    }),
    rate_limits: rateLimits,
    nodeinfo: group(
      {
        enabled: flag({ description: 'Whether NodeInfo is served.', default: false }),
        protocols: list(
          text({ what: 'a protocol name', parse: matching(/^[a-z0-9-]{1,64}$/), example: 'activitypub' }),
          {
            description:
              'Protocols it names; the empty list is outside the schema of NodeInfo, which wants at least one.',
            default: [],
            maxItems: 20,
          },
        ),
      },
      { description: 'NodeInfo.' },
    ),
    cache: group(
      { counter_seconds: integer({ description: 'How old computed numbers may be.', default: 5, max: 86_400 }) },
      { description: 'Caching of computed numbers.' },
    ),
    compat: group(
      {
        mastodon_version: orNull(
          text({
            what: 'a version such as `4.5.0`',
            description: 'Version to claim for clients that need one; null claims none.',
            example: '4.5.0',
            // Clients read the numbers, and some end over a text without them.
            parse: matching(/^\d{1,5}(\.\d{1,5}){2}[0-9A-Za-z.+-]{0,40}$/),
          }),
        ),
      },
      { description: 'Concessions to existing clients.' },
    ),
  },
  { description: 'The public face. What is stored through the admin API counts more.' },
)

export type InstanceSettings = Static<typeof instanceSettings>
