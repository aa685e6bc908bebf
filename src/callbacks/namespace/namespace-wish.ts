import { Origins } from '../../platform/config/origins.ts'
import { Problems } from '../../platform/config/problems.ts'
import { INVALID, SettingsReader } from '../../platform/config/read-settings.ts'
import { isRecord, memberOf, type Setting } from '../../platform/config/setting.ts'
import { SchemaCheck } from '../../platform/http/input/schema-check.ts'
import type { FieldType } from '../query/fields.ts'
import { POLICY_OVERRIDES, type PolicyOverrides } from '../settings.ts'
import { camelCase, policyWishOf, SHOWN_POLICY } from './policy-json.ts'
import { namespaceChangeBody, newNamespaceBody } from './schema-namespaces.ts'
import type { SigningChange } from './signing-secrets.ts'

/** What a caller wants a namespace to be; what is absent stays as it is. */
export interface NamespaceWish {
  description?: string
  /** Durations in milliseconds, as in the settings. */
  set?: PolicyOverrides
  /** Keys and groups that are to be inherited again, such as `retry.max_interval`. */
  unset?: readonly string[]
  /** To add, or to remove by null. */
  searchAttributes?: Readonly<Record<string, FieldType | null>>
  signing?: SigningChange
}

export interface NewNamespace extends NamespaceWish {
  name: string
}

const newNamespace = new SchemaCheck(newNamespaceBody('camel'), 'body')
const namespaceChange = new SchemaCheck(namespaceChangeBody('camel'), 'body')

/** From JSON in either spelling. Throws `invalid_argument` with every problem. */
export function readNewNamespace(json: unknown): NewNamespace {
  const body = checked(newNamespace, json)
  return { ...wishOf(body), name: body.name as string }
}

export function readNamespaceChange(json: unknown): NamespaceWish {
  return wishOf(checked(namespaceChange, json))
}

function checked(check: SchemaCheck, json: unknown): Record<string, unknown> {
  const body = isRecord(json) ? inCamelCase(SHOWN_POLICY, spelledOut(json)) : json
  if (!check.passes(body)) throw check.explain(body).toAppError('callbacks')
  return body as Record<string, unknown>
}

function wishOf(body: Record<string, unknown>): NamespaceWish {
  const { set, unset } = policyWishOf(body)
  return {
    description: body.description as string | undefined,
    set: readOverrides(set),
    unset,
    searchAttributes: body.searchAttributes as NamespaceWish['searchAttributes'],
    signing: body.signing as SigningChange | undefined,
  }
}

/** The raw values, whose schema was checked, as the program uses them. */
function readOverrides(raw: Record<string, unknown>): PolicyOverrides {
  const problems = new Problems()
  const reader = new SettingsReader({ mode: 'serve', cwd: '/' }, new Origins(), problems)
  const value = reader.read(POLICY_OVERRIDES, raw, [])
  if (value === INVALID) problems.throwIfAny()
  return value as PolicyOverrides
}

function spelledOut(json: Record<string, unknown>): Record<string, unknown> {
  const { search_attributes: attributes, ...others } = json
  return attributes === undefined || others.searchAttributes !== undefined
    ? json
    : { ...others, searchAttributes: attributes }
}

/** A member that is given in both spellings keeps the second, which the schema does not know. */
function inCamelCase(setting: Setting, value: unknown): unknown {
  if (setting.kind === 'list' && Array.isArray(value)) return value.map((item) => inCamelCase(setting.item, item))
  if (setting.kind !== 'group' || !isRecord(value)) return value
  const renamed: Record<string, unknown> = { ...value }
  for (const key of Object.keys(setting.members)) {
    const name = camelCase(key)
    if (name !== key && Object.hasOwn(renamed, key) && !Object.hasOwn(renamed, name)) {
      renamed[name] = renamed[key]
      delete renamed[key]
    }
    if (Object.hasOwn(renamed, name)) renamed[name] = inCamelCase(memberOf(setting, key) as Setting, renamed[name])
  }
  return renamed
}
