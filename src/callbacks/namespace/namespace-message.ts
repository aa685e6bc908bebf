/** Namespaces as messages: what JSON spells as null and as members of its own is said by fields here. */
import { create } from '@bufbuild/protobuf'
import type {
  CreateNamespaceRequest,
  ListNamespacesResponse,
  Namespace as NamespaceMessage,
  SigningChange as SigningMessage,
  UpdateNamespaceRequest,
} from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { ListNamespacesResponseSchema, NamespaceSchema } from '../../gen/commonplace/callbacks/v1/callbacks_pb.js'
import { settingsIn } from '../../platform/config/setting.ts'
import { durationJson } from '../wire/duration.ts'
import { invalid } from '../wire/invalid.ts'
import { readMessage } from '../wire/json.ts'
import type { ShownNamespace } from './namespace.ts'
import type { NamespacePage } from './namespace-service.ts'
import { type NamespaceWish, type NewNamespace, readNamespaceChange, readNewNamespace } from './namespace-wish.ts'
import { camelCase, SHOWN_POLICY } from './policy-json.ts'
import { namespaceToJson } from './schema-namespaces.ts'

/** Members that have fields of their own, and so no place in the policy. */
const OWN_FIELDS = ['name', 'description', 'retention', 'allowedAddresses', 'searchAttributes', 'signing']
const SIGNING = 'signing'

/** By the name that callers use, such as `retry.maxInterval`, the one of the settings. */
const POLICY_KEYS = new Map(
  [...settingsIn(SHOWN_POLICY)].map(({ path }) => [path.map(camelCase).join('.'), path.join('.')]),
)

export function namespaceMessage(shown: ShownNamespace, generatedSecret: string | null = null): NamespaceMessage {
  const { createTime, updateTime, overrides, ...json } = namespaceToJson(shown, generatedSecret) as Record<
    string,
    unknown
  >
  const isOwn = ([name]: [string, unknown]) => OWN_FIELDS.includes(name)
  const policy = Object.fromEntries(Object.entries(json).filter((entry) => !isOwn(entry)))
  const own = Object.fromEntries(Object.entries(json).filter(isOwn))
  return readMessage(NamespaceSchema, { ...own, createTime, updateTime, overrides, policy })
}

export function namespacePageMessage({ namespaces, nextPageToken }: NamespacePage): ListNamespacesResponse {
  return create(ListNamespacesResponseSchema, {
    namespaces: namespaces.map((one) => namespaceMessage(one)),
    nextPageToken: new Uint8Array(Buffer.from(nextPageToken ?? '', 'base64url')),
  })
}

/** As the service gives and takes it, of the bytes that a message has. */
export function pageTokenText(token: Uint8Array): string {
  return Buffer.from(token).toString('base64url')
}

export function readNewNamespaceMessage(request: CreateNamespaceRequest): NewNamespace {
  return readNewNamespace({
    name: request.name,
    ...(request.description !== '' && { description: request.description }),
    ...commonMembers(request),
  })
}

export function readNamespaceChangeMessage(request: UpdateNamespaceRequest): NamespaceWish {
  const { description, inherit, removedSearchAttributes: removed } = request
  const members = commonMembers(request)
  const both = removed.find((name) => Object.hasOwn(request.searchAttributes, name))
  if (both !== undefined) throw invalid(`search attribute ${JSON.stringify(both)} is added and removed at once`)
  const nulls = Object.fromEntries(removed.map((name) => [name, null]))
  const wish = readNamespaceChange({
    ...members,
    ...(description !== undefined && { description }),
    ...(removed.length > 0 && { searchAttributes: { ...request.searchAttributes, ...nulls } }),
    ...(inherit.includes(SIGNING) && { signing: { ...signingJson(request.signing), secrets: null } }),
  })
  const unset = inherit.filter((name) => name !== SIGNING).map(policyKey)
  return { ...wish, unset: [...(wish.unset ?? []), ...unset] }
}

function commonMembers(request: CreateNamespaceRequest | UpdateNamespaceRequest): Record<string, unknown> {
  const { retention, allowedAddresses, searchAttributes, signing, policy = {} } = request
  const twice = OWN_FIELDS.find((name) => Object.hasOwn(policy, name))
  if (twice !== undefined) throw invalid(`policy must not have the member ${twice}: there is a field for it`)
  return {
    ...policy,
    ...(retention !== undefined && { retention: durationJson(retention) }),
    ...(allowedAddresses.length > 0 && {
      allowedAddresses: allowedAddresses.map(({ pattern, allowInsecure }) => ({ pattern, allowInsecure })),
    }),
    ...(Object.keys(searchAttributes).length > 0 && { searchAttributes }),
    ...(signing !== undefined && { signing: signingJson(signing) }),
  }
}

function signingJson(change: SigningMessage | undefined): Record<string, unknown> {
  if (change === undefined) return {}
  const { secrets, add, generate, drop, clear, inherit } = change
  if ([secrets.length > 0, clear, inherit].filter((isSet) => isSet).length > 1) {
    throw invalid('signing must have only one of secrets, clear and inherit')
  }
  return {
    ...(secrets.length > 0 && { secrets }),
    ...(clear && { secrets: [] }),
    ...(inherit && { secrets: null }),
    ...(add !== '' && { add }),
    ...(generate && { generate }),
    ...(drop !== '' && { drop }),
  }
}

function policyKey(name: string): string {
  const key = POLICY_KEYS.get(name)
  if (key === undefined) throw invalid('inherit must have names of members such as "retention" or "retry.maxInterval"')
  return key
}
