import type { Micros } from '../../platform/clock/clock.ts'
import type { Id } from '../../platform/ids/uuid.ts'
import type { FieldType } from '../query/fields.ts'
import type { CallbackPolicy, PolicyOverrides } from '../settings.ts'

export type NamespaceId = Id<'Namespace'>
export type SearchAttributeTypes = Readonly<Record<string, FieldType>>

export const MOST_ATTRIBUTES = 1_000

/** A namespace as it is stored. */
export interface Namespace {
  id: NamespaceId
  name: string
  description: string
  searchAttributes: SearchAttributeTypes
  /** Where it differs from the settings, besides its secrets. */
  overrides: PolicyOverrides
  /** Encrypted, newest first; null where those of the settings sign. */
  sealedSecrets: readonly string[] | null
  createdAt: Micros
  modifiedAt: Micros
}

/** A namespace with the values in effect, as it may be shown. */
export interface ShownNamespace {
  namespace: Namespace
  policy: CallbackPolicy
  secretCount: number
}
