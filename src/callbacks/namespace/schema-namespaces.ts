/** What the operations on namespaces take and answer. */
import { type TSchema, Type } from 'typebox'
import { toRfc3339 } from '../../platform/clock/clock.ts'
import { isRecord } from '../../platform/config/setting.ts'
import { nullable } from '../../platform/http/input/nullable.ts'
import { isSystemField, SEARCH_ATTRIBUTE_TYPES } from '../query/fields.ts'
import { ATTRIBUTE_NAME, isSigningSecret, MOST_SIGNING_SECRETS, NAMESPACE_NAME } from '../settings.ts'
import { MOST_ATTRIBUTES, type ShownNamespace } from './namespace.ts'
import { camelCase, overriddenKeys, policyToJson, SHOWN_POLICY } from './policy-json.ts'
import { closedObject, inputMembers, outputSchema, type Spelling } from './policy-schema.ts'

const LONGEST_DESCRIPTION = 2_000

export const NamespacePath = Type.Object({ namespace: Type.String({ description: 'Name of the namespace.' }) })

const PRETTY = { pretty: Type.Optional(Type.Boolean({ description: 'Whether the answer is indented.' })) }

export const NamespaceFlags = Type.Object(PRETTY)

export const NamespaceListQuery = Type.Object({
  ...PRETTY,
  pageSize: Type.Optional(Type.Integer({ description: 'At most so many; 1000 when absent, 0 or more than that.' })),
  nextPageToken: Type.Optional(Type.String({ description: 'Of the page before.' })),
})

const AttributeType = Type.Enum([...SEARCH_ATTRIBUTE_TYPES])

const NameField = refined(
  'Letters, digits, ".", "_" and "-", at most 255, the first one a letter or digit.',
  (text) => NAMESPACE_NAME.test(text),
  'must be letters, digits, ".", "_" and "-", at most 255, the first one a letter or digit',
  { pattern: NAMESPACE_NAME.source },
)

const DescriptionField = refined(
  `What it is for, at most ${LONGEST_DESCRIPTION} characters.`,
  (text) => text.length <= LONGEST_DESCRIPTION && text.isWellFormed() && !/[^\P{Cc}\t\n\r]/u.test(text),
  `must be text of at most ${LONGEST_DESCRIPTION} characters without control characters`,
  { maxLength: LONGEST_DESCRIPTION },
)

const AttributesField = alsoRefined(
  Type.Record(Type.String(), nullable(AttributeType), {
    description:
      'Search attributes to add, each with its type, and null for those to remove. A type never changes. Values of a removed attribute stay with their callbacks and are found again when it is added with the same type.',
  }),
  attributeProblem,
)

const SecretField = refined(
  '"whsec_" and the base64 form of 24 to 64 bytes.',
  isSigningSecret,
  'must be "whsec_" and the base64 form of 24 to 64 bytes',
)

const SigningField = alsoRefined(
  Type.Object(
    {
      secrets: Type.Optional(
        Type.Union([Type.Array(SecretField, { maxItems: MOST_SIGNING_SECRETS }), Type.Null()], {
          description:
            'All secrets, newest first; an empty list signs nothing, null signs with those of the settings. Stands alone.',
        }),
      ),
      add: Type.Optional(SecretField),
      generate: Type.Optional(Type.Boolean({ description: 'Make a secret up; the answer shows it, this once.' })),
      drop: Type.Optional(
        refined(
          'A secret, or "oldest".',
          (text) => text === 'oldest' || isSigningSecret(text),
          'must be "oldest" or a secret',
        ),
      ),
    },
    {
      additionalProperties: false,
      description:
        'Secrets that sign every request; all of them do. Added ones come first and join those that sign already, so that receivers have time to change over before the old one is dropped.',
    },
  ),
  (signing) => {
    const isAlone = !isRecord(signing) || signing.secrets === undefined || Object.keys(signing).length === 1
    return isAlone ? undefined : 'must have no other member beside secrets'
  },
)

const NEW_NAMESPACE_KEYS = ['name', 'description', 'search_attributes', 'signing']

/** Strict for `camel`, which is what is read in the end. */
export function newNamespaceBody(spelling: Spelling): TSchema {
  return body({ name: NameField }, spelling, spelling === 'both' ? 'NewNamespace' : undefined)
}

export function namespaceChangeBody(spelling: Spelling): TSchema {
  const name = Type.Optional(Type.Unknown({ description: 'Left out of account: the path names it.' }))
  return body({ name }, spelling, spelling === 'both' ? 'NamespaceChange' : undefined)
}

function body(name: Record<string, TSchema>, spelling: Spelling, $id?: string): TSchema {
  const members = {
    ...name,
    description: Type.Optional(DescriptionField),
    searchAttributes: Type.Optional(AttributesField),
    signing: Type.Optional(SigningField),
    ...inputMembers(SHOWN_POLICY, spelling),
  }
  const description =
    'Every key of the section "callbacks" of the settings can differ here; null takes that back. Durations are text such as "10s" or "7d". The snake_case spelling of a member is taken as well.'
  const keys = [...NEW_NAMESPACE_KEYS, ...Object.keys(SHOWN_POLICY.members)]
  return closedObject(members, keys, spelling, { description, ...($id && { $id }) })
}

export const NamespaceDocument = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    createTime: Type.String({ format: 'date-time' }),
    updateTime: Type.String({ format: 'date-time' }),
    searchAttributes: Type.Record(Type.String(), Type.String(), { description: 'Name to type.' }),
    signing: Type.Object({
      secretCount: Type.Integer({ description: 'How many secrets sign; they are never shown.' }),
      generatedSecret: Type.Optional(Type.String({ description: 'Of a request that asked to generate one.' })),
    }),
    overrides: Type.Array(Type.String(), {
      description: 'Members that this namespace sets itself, such as "retry.maxInterval"; the others are inherited.',
    }),
    ...(outputSchema(SHOWN_POLICY) as unknown as { properties: Record<string, TSchema> }).properties,
  },
  { $id: 'Namespace', description: 'A namespace with the values in effect.' },
)

export const NamespaceList = Type.Object({
  namespaces: Type.Array(NamespaceDocument),
  nextPageToken: Type.Optional(Type.String({ description: 'Absent on the last page.' })),
})

export const Empty = Type.Object({}, { additionalProperties: false })

export function namespaceToJson(shown: ShownNamespace, generatedSecret: string | null = null) {
  const { namespace, policy } = shown
  const own = [...overriddenKeys(namespace.overrides).keys()].map((key) => key.split('.').map(camelCase).join('.'))
  return {
    name: namespace.name,
    description: namespace.description,
    createTime: toRfc3339(namespace.createdAt),
    updateTime: toRfc3339(namespace.modifiedAt),
    searchAttributes: namespace.searchAttributes,
    signing: { secretCount: shown.secretCount, ...(generatedSecret !== null && { generatedSecret }) },
    overrides: namespace.sealedSecrets === null ? own : [...own, 'signing'],
    ...policyToJson(policy),
  }
}

function attributeProblem(attributes: unknown): string | undefined {
  if (!isRecord(attributes)) return undefined
  const names = Object.keys(attributes)
  if (names.length > MOST_ATTRIBUTES) return `must have at most ${MOST_ATTRIBUTES} members`
  const misnamed = names.filter((name) => !ATTRIBUTE_NAME.test(name))
  if (misnamed.length > 0) {
    return `must have names of at most 128 letters from a to z, digits, "_" and "-" that begin with a letter, not ${listed(misnamed)}`
  }
  const reserved = names.filter(isSystemField)
  return reserved.length === 0 ? undefined : `must not have ${listed(reserved)}: every callback has such a field`
}

function listed(names: readonly string[]): string {
  return names
    .slice(0, 10)
    .map((name) => JSON.stringify(name.slice(0, 100)))
    .join(', ')
}

function refined(description: string, isGood: (text: string) => boolean, problem: string, documented?: object) {
  return Type.Refine(
    Type.String({ description, documented }),
    (text) => typeof text !== 'string' || isGood(text),
    () => problem,
  )
}

/** Two schemas, so that the problem is found also where there are others. */
function alsoRefined(schema: TSchema, problemOf: (value: unknown) => string | undefined): TSchema {
  const check = Type.Refine(
    Type.Unknown(),
    (value) => problemOf(value) === undefined,
    (value) => problemOf(value) ?? '',
  )
  return Type.Unsafe({ allOf: [schema, check] })
}
