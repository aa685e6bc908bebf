import type { Static } from 'typebox'
import { CIDR } from '../platform/config/formats.ts'
import {
  bytes,
  choice,
  duration,
  flag,
  group,
  integer,
  list,
  map,
  number,
  orNull,
  text,
} from '../platform/config/keys.ts'
import { type Overrides, overridesOf, withOverrides } from '../platform/config/overrides.ts'
import { type GroupSetting, type Report, settingOf } from '../platform/config/setting.ts'
import { isSystemField, SEARCH_ATTRIBUTE_TYPES } from './query/fields.ts'

export const NAMESPACE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/
export const ATTRIBUTE_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,127}$/
export const MOST_SIGNING_SECRETS = 10
/** The most that `request_timeout` may be. */
export const LONGEST_REQUEST_MS = 3_600_000
// A default contradicts nothing: whoever lowers the other half of its pair means that one alone.
const USUAL_INITIAL_MS = 1_000
const USUAL_WARN_BYTES = 524_288

const addressRule = group({
  pattern: text({
    description: '`host[:port]`, where `*` stands for anything.',
    example: '*.example.org',
    maxLength: 300,
  }),
  allow_insecure: flag({ description: 'Whether plain http will do.', default: false }),
})

const signingSecret = text({
  what: '`whsec_` and the base64 form of 24 to 64 bytes',
  parse: (given) => (isSigningSecret(given) ? given : undefined),
  example: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  secret: 'all',
})

/** Keys that hold for the server and, where it says so, differently for a namespace. */
const policyMembers = {
  enabled: flag({ description: 'Whether callbacks may be started.', default: true }),
  allowed_addresses: list(addressRule, {
    description: 'Targets allowed, `{pattern, allow_insecure}`; the first rule that matches decides.',
    default: [{ pattern: '*', allow_insecure: false }],
    byMode: { dev: [{ pattern: '*', allow_insecure: true }] },
  }),
  allowed_private_cidrs: list(text({ ...CIDR, example: '10.1.0.0/16' }), {
    description: 'Private ranges that may be reached all the same.',
    default: [],
    byMode: { dev: ['127.0.0.0/8', '::1'] },
  }),
  denied_ports: list(integer({ example: 25, min: 1, max: 65_535 }), {
    description: 'Ports that are never called.',
    default: [22, 25, 465, 587, 6379, 5432, 3306, 11_211],
  }),
  request_timeout: duration({ description: 'How long one attempt may take.', default: '10s', min: '10ms', max: '1h' }),
  retry: group(
    {
      initial_interval: duration({
        description: 'Delay after the first failure.',
        default: '1s',
        min: '1ms',
        max: '1d',
      }),
      max_interval: duration({
        description: 'Longest delay, also after the first failure.',
        default: '1h',
        min: '1ms',
        max: '20d',
      }),
      coefficient: number({ description: 'Growth of the delay per failure.', default: 2, min: 1, max: 100 }),
      jitter: number({ description: 'Part of the delay that chance may take away.', default: 0.2, min: 0, max: 1 }),
    },
    { description: 'When a failed attempt is repeated.', checks: [checkRetry] },
  ),
  schedule_to_close: group(
    {
      default: orNull(
        duration({
          description: 'Time limit of a callback that names none; null is no limit.',
          example: '7d',
          min: '1s',
        }),
      ),
      max: orNull(
        duration({ description: 'Longest time limit of a callback; null is no ceiling.', example: '30d', min: '1s' }),
      ),
    },
    { description: 'When a callback is given up.', checks: [checkScheduleToClose] },
  ),
  url_max_length: integer({ description: 'Longest target address.', default: 1000, min: 1, max: 65_536 }),
  header_max_size: bytes({
    description: 'Most bytes of names and values of own headers.',
    default: 8192,
    max: 1_048_576,
  }),
  long_poll: group(
    {
      timeout: duration({ description: 'How long a poll waits at most.', default: '60s', min: '10ms', max: '1h' }),
      buffer: duration({ description: "How long before the caller's deadline it answers.", default: '1s', max: '1m' }),
    },
    { description: 'Waiting for an outcome.' },
  ),
  max_id_length: bytes({
    description: 'Most bytes of a new id, identity or reason. Ids of callbacks never have more than 2000.',
    default: 1000,
    min: 1,
    max: 65_536,
  }),
  blob_size: group(
    {
      error: bytes({
        description: 'Larger inputs are refused, and failures that would be sent as four times as much.',
        default: 2_097_152,
        min: 1,
        max: 1_073_741_824,
      }),
      warn: bytes({ description: 'Larger inputs are logged.', default: USUAL_WARN_BYTES, min: 1, max: 1_073_741_824 }),
    },
    { description: 'Size of inputs.', checks: [checkBlobSize] },
  ),
  search_attribute_limits: group(
    {
      keys: integer({ description: 'Most attributes of a callback.', default: 100, max: 10_000 }),
      value_bytes: bytes({ description: 'Most bytes of one value.', default: 2048, max: 1_048_576 }),
      total_bytes: bytes({ description: 'Most bytes of all values.', default: 40_960, max: 16_777_216 }),
    },
    { description: 'Size of search attributes.' },
  ),
  max_page_size: integer({ description: 'Most callbacks on a page.', default: 1000, min: 1, max: 10_000 }),
  destination: group(
    {
      concurrency: integer({ description: 'Attempts at a time.', default: 100, min: 1, max: 100_000 }),
      rps: number({
        description: 'Attempts started per second; 0 means no limit.',
        default: 0,
        min: 0,
        max: 1_000_000,
      }),
    },
    { description: 'Load on one destination.' },
  ),
  breaker: group(
    {
      consecutive_failures: integer({
        description: 'Failures in a row that are tolerated.',
        default: 5,
        max: 1_000_000,
      }),
      open_for: duration({
        description: 'How long a failing destination is left alone.',
        default: '60s',
        min: '10ms',
        max: '20d',
      }),
      half_open_requests: integer({ description: 'Trials after that.', default: 1, min: 1, max: 1000 }),
    },
    { description: 'When a destination is left alone.' },
  ),
  retention: duration({ description: 'How long closed callbacks are kept.', default: '30d', min: '1d', max: '36500d' }),
  max_open_long_polls: integer({
    description: 'Most polls of one namespace that wait at a time, in each process.',
    default: 1000,
    max: 1_000_000,
  }),
  signing_secrets: list(signingSecret, {
    description: 'Secrets that sign every request, newest first; empty signs none.',
    default: [],
    maxItems: MOST_SIGNING_SECRETS,
  }),
  rate_limit: group(
    {
      limit: integer({ description: 'API requests in one period; 0 means no limit.', default: 0, max: 1_000_000_000 }),
      period: duration({
        description: 'Length of a window, aligned to the clock.',
        default: '60s',
        min: '1s',
        max: '1d',
      }),
    },
    { description: 'Limit of API requests.' },
  ),
}

const policy = group(policyMembers)
export type CallbackPolicy = Static<typeof policy>
export type PolicyOverrides = Overrides<CallbackPolicy>

/** How each key of a policy is read and written. */
export const POLICY = settingOf(policy) as GroupSetting
export const POLICY_OVERRIDES = settingOf(overridesOf(policy, {})) as GroupSetting

const searchAttributes = map(choice([...SEARCH_ATTRIBUTE_TYPES], { example: 'Keyword' }), {
  description: `Own search attributes, each one of ${SEARCH_ATTRIBUTE_TYPES.map((type) => `\`${type}\``).join(', ')}.`,
  default: {},
  example: { CustomerId: 'Keyword' },
  keys: ATTRIBUTE_NAME,
  keyWhat: 'names of letters, digits, `_` and `-`',
  keyProblem: (name) => (isSystemField(name) ? 'is the name of a field that every callback has' : undefined),
})

export const callbacksSettings = group(
  {
    ...policyMembers,
    namespaces: map(overridesOf(policy, { search_attributes: searchAttributes }), {
      description:
        'Namespaces that exist after start, each `{search_attributes}` and any key of this section to differ in.',
      default: {},
      example: { orders: { search_attributes: { CustomerId: 'Keyword' }, retention: '7d' } },
      keys: NAMESPACE_NAME,
      keyWhat: 'names of letters, digits, `.`, `_` and `-`',
    }),
  },
  {
    description: 'Results that must reach other systems.',
    checks: [
      // A namespace may differ in half of a pair: it has to fit the server's other half.
      ({ namespaces, retry, schedule_to_close, blob_size }, report) => {
        for (const [name, given] of Object.entries(namespaces)) {
          const merged = withOverrides<PolicyPairs>({ retry, schedule_to_close, blob_size }, given)
          findContradictions(merged, ([key, ...path], ...found) => {
            if (given[key as keyof PolicyPairs]) report(['namespaces', name, key as string, ...path], ...found)
          })
        }
      },
    ],
  },
)

export type CallbacksSettings = Static<typeof callbacksSettings>

/** The server's values with what the settings say for this namespace put over them, and over that `overrides`. */
export function policyOf(
  settings: CallbacksSettings,
  namespace: string,
  overrides: PolicyOverrides = {},
): CallbackPolicy {
  const { namespaces, ...server } = settings
  const listed = Object.hasOwn(namespaces, namespace) ? namespaces[namespace] : undefined
  const { search_attributes: _, ...below } = listed ?? { search_attributes: {} }
  return withOverrides<CallbackPolicy>(withOverrides<CallbackPolicy>(server, below), overrides)
}

type PolicyPairs = Pick<CallbackPolicy, 'retry' | 'schedule_to_close' | 'blob_size'>

/** Reports values that do not fit each other; paths begin at the policy. */
export function findContradictions(policy: PolicyPairs, report: Report): void {
  const within =
    (key: string): Report =>
    (path, ...found) =>
      report([key, ...path], ...found)
  checkRetry(policy.retry, within('retry'))
  checkScheduleToClose(policy.schedule_to_close, within('schedule_to_close'))
  checkBlobSize(policy.blob_size, within('blob_size'))
}

function checkRetry(retry: { initial_interval: number; max_interval: number }, report: Report): void {
  const { initial_interval: initial, max_interval: max } = retry
  if (initial > max && initial !== USUAL_INITIAL_MS)
    report(['initial_interval'], 'must not be longer than `max_interval`', max)
}

function checkScheduleToClose(limits: { default: number | null; max: number | null }, report: Report): void {
  const { default: usual, max } = limits
  if (usual !== null && max !== null && usual > max) report(['default'], 'must not be longer than `max`', max)
}

function checkBlobSize(size: { error: number; warn: number }, report: Report): void {
  if (size.warn > size.error && size.warn !== USUAL_WARN_BYTES)
    report(['warn'], 'must not be larger than `error`', size.error)
}

/** `whsec_` and the base64 form of 24 to 64 bytes. */
export function isSigningSecret(text: string): boolean {
  const encoded = text.startsWith('whsec_') && text.length <= 100 ? text.slice('whsec_'.length) : ''
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded
}
